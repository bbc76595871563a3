"""Environments of all robosuite tasks, started once for all tests here."""

import pytest

from surefoot.environments.registry import find_task


@pytest.fixture(scope="package")
def environment_of():
    """The environment of a task by its name; whoever asks resets it."""
    started = {}

    def give(name):
        if name not in started:
            started[name] = find_task(name).make()
        return started[name]

    yield give
    for environment in started.values():
        environment.close()
