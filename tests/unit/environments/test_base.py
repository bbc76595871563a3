"""What a task says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.environments.base import Demonstration
from surefoot.errors import EnvironmentFaultError


def test_a_demonstration_that_its_package_lacks_is_named():
    with pytest.raises(EnvironmentFaultError, match="The demonstration 'lift' of toy/lift can't be read: No such file"):
        _ = Demonstration("lift", "toy/lift", Path("nowhere.py")).source
