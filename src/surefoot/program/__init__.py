"""What a program is: source, stages, identity, edits."""
