"""PI: localized repair and verified skill acquisition, in-process; its controllers and the paper's experiments."""
