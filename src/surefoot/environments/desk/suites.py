"""The desk's suite."""

SUITES: dict[str, tuple[str, ...]] = {
    # not desk/place-unsteady: its resets differ by how many its environment has seen, so its table would
    # differ by the number of workers
    "desk": ("desk/place", "desk/occlusion"),
}
