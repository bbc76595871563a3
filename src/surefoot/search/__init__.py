"""The learning loop of SCOPE."""
