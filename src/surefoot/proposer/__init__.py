"""Who writes edits."""
