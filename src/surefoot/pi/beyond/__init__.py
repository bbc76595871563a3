"""What the paper asks for next: imperfect feedback, acquisition charged, and tables where a small trial saves work."""
