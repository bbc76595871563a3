"""The robosuite suite: the paper's seven tasks in the paper's order."""

SUITES: dict[str, tuple[str, ...]] = {
    "robosuite": (
        "robosuite/cube-lift",
        "robosuite/cube-stack",
        "robosuite/cube-restack",
        "robosuite/spill-wipe",
        "robosuite/two-arm-handover",
        "robosuite/two-arm-lift",
        "robosuite/nut-assembly",
    ),
}
