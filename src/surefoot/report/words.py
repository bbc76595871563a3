"""Numbers and configurations as text."""

from __future__ import annotations


def span(seeds: tuple[int, ...]) -> str:
    """Configurations as text: `101-125` where they are consecutive."""
    if len(seeds) > 2 and seeds == tuple(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ",".join(map(str, seeds))


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 task`, `2 tasks`, `2 processes`."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"
