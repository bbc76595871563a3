"""What crossed the boundary: recording, the file, replay, certificate, divergence."""
