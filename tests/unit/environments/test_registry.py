"""Suites are found by name, and name tasks that are installed."""

from __future__ import annotations

import pytest

from surefoot.environments.registry import find_suite, find_task
from surefoot.errors import UsageError


def test_a_suite_s_tasks_come_in_order():
    assert find_suite("desk") == ("desk/place", "desk/occlusion")


@pytest.mark.parametrize("suite", ["desk", "robosuite"])
def test_a_suite_names_tasks_that_are_installed(suite):
    assert [find_task(name).name for name in find_suite(suite)] == list(find_suite(suite))


def test_an_unknown_suite_is_answered_with_the_nearest_and_all_that_exist():
    with pytest.raises(UsageError) as found:
        find_suite("robosuit")
    assert str(found.value) == ("There is no suite 'robosuit'. Did you mean 'robosuite'? Available: desk, robosuite.")
