"""Frozen programs on held-out scenes."""
