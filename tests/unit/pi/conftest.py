"""Two of the published worlds, measured once."""

from __future__ import annotations

import pytest

from surefoot.pi.experiment import Results, run_world
from surefoot.pi.streams import Streams


@pytest.fixture(scope="session")
def streams() -> Streams:
    return Streams.of(11)


@pytest.fixture(scope="session")
def worlds() -> list[Results]:
    return [run_world(seed) for seed in (11, 29)]
