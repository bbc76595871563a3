from importlib import metadata

import pytest

from surefoot.environments.robosuite import importing
from surefoot.errors import UsageError


def test_a_missing_simulator_is_answered_with_the_command_that_installs_it(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(UsageError) as error:
        importing.check_installed()
    assert (
        str(error.value)
        == 'robosuite is not installed. Install it with: pip install ".[robosuite]" in the checkout of surefoot'
    )


def test_another_mujoco_is_named_together_with_the_pinned_one(monkeypatch):
    monkeypatch.setattr(metadata, "version", {"robosuite": "1.4.0", "mujoco": "3.17.0"}.__getitem__)
    with pytest.raises(UsageError) as error:
        importing.check_installed()
    assert str(error.value) == (
        "mujoco 3.17.0 is installed, but robosuite tasks need mujoco 3.3.7, as other versions change scenes or "
        'break its controllers. Install it with: pip install ".[robosuite]" in the checkout of surefoot'
    )
