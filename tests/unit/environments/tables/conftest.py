"""A small table whose effects can all be told apart, by hand."""

from __future__ import annotations

import pytest

from surefoot.environments.tables.table import SCALE, Row, Rows


@pytest.fixture
def rows() -> Rows:
    """Two orders with two revisions each, in no order; the second is settled."""
    return (
        Row("a", "a2", 5, False, 200 * SCALE),
        Row("b", "b1", 1, True, 30 * SCALE),
        Row("a", "a1", 2, False, 100 * SCALE),
        Row("b", "b2", 4, True, 4 * SCALE),
    )
