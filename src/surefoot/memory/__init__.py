"""What a run remembers: archive of executions, success bank, skill evidence, journal."""
