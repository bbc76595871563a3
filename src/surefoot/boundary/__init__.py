"""What a program can see and do: surface, values, messages, and the process it runs in."""
