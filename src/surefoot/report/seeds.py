"""Configurations as text."""

from __future__ import annotations


def span(seeds: tuple[int, ...]) -> str:
    """Configurations as text: `101-125` where they are consecutive."""
    if len(seeds) > 2 and seeds == tuple(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ",".join(map(str, seeds))
