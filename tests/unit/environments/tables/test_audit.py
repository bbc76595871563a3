"""The full audit: computed by other code than the interpreter's, and exact."""

from __future__ import annotations

import ast
import inspect
import itertools

import pytest

from surefoot.environments.tables import audit
from surefoot.environments.tables.audit import Reference, reference
from surefoot.environments.tables.interpreter import run
from surefoot.environments.tables.worlds import PROGRAMS, REQUESTS, accepts

IDENTITY = ((0, 1), (0, 1, 2), (0, 1, 2))


@pytest.mark.parametrize(
    ("request_", "total", "supporting"),
    [
        ((0, 0, 0), 3_340_000, ("a2", "b1", "a1", "b2")),
        ((1, 0, 0), 340_000, ("b1", "b2")),
        ((0, 1, 0), 1_300_000, ("b1", "a1")),
        ((0, 2, 1), 20_400, ("a2", "b2")),
        ((1, 1, 2), 30_000_000, ("b1",)),
        ((1, 2, 1), 400, ("b2",)),
    ],
)
def test_the_reference_is_what_the_request_asks_for(rows, request_, total, supporting):
    assert reference(rows, request_) == Reference(total, supporting)


def test_an_order_without_settled_rows_has_no_settled_oldest(rows):
    assert "a1" not in reference(rows, (1, 1, 0)).supporting


def test_settlement_is_filtered_before_revisions_are_chosen(rows):
    changing = (rows[0]._replace(settled=True), *rows[1:])
    assert reference(changing, (1, 1, 0)).supporting == ("a2", "b1")


def test_interpreter_and_audit_agree_where_the_program_is_the_request_s_and_nowhere_else(rows):
    for program, request in itertools.product(PROGRAMS, REQUESTS):
        assert accepts(run(IDENTITY, program, rows), reference(rows, request)) is (program == request)


def test_the_audit_uses_nothing_of_the_interpreter():
    used = set()
    for node in ast.walk(ast.parse(inspect.getsource(audit))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
            used |= {alias.name for alias in node.names}
    assert used == {"Request", "Rows"}


def test_a_faulty_interpreter_is_not_believed(rows, monkeypatch):
    from surefoot.environments.tables import effects

    faulty = (effects.APPLY[0], effects.APPLY[1], (effects.APPLY[2][0],) * 3)
    monkeypatch.setattr("surefoot.environments.tables.interpreter.APPLY", faulty)
    assert not accepts(run(IDENTITY, (0, 0, 1), rows), reference(rows, (0, 0, 1)))
