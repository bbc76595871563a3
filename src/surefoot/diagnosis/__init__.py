"""Where a failed execution broke: graph of checks, evidence windows, supported progress, frontier."""
