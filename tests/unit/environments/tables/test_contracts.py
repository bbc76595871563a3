"""Contracts on a stage's actual input, and what a failed one tells."""

from __future__ import annotations

import itertools

import pytest

from surefoot.environments.tables.contracts import LINEAGE, PATHS, Diagnostic, contract_bits, diagnostics
from surefoot.environments.tables.effects import EFFECTS
from surefoot.environments.tables.interpreter import run
from surefoot.environments.tables.worlds import PROGRAMS, REQUESTS

IDENTITY = ((0, 1), (0, 1, 2), (0, 1, 2))


def test_a_bit_says_whether_the_stage_did_what_was_asked_whatever_the_stages_before_it_did(rows):
    for program, request in itertools.product(PROGRAMS, REQUESTS):
        wanted = tuple(own == goal for own, goal in zip(program, request, strict=True))
        assert contract_bits(run(IDENTITY, program, rows), request) == wanted


def test_effects_that_do_the_same_on_the_actual_input_pass_for_each_other(rows):
    one_each = rows[:2]
    assert contract_bits(run(IDENTITY, (0, 1, 0), one_each), (0, 2, 0)) == (True, True, True)


def test_lineage_maps_each_output_path_to_the_stage_that_produces_it():
    assert LINEAGE == {"selected.population": 0, "selected.revisions": 1, "amounts.unit": 2}
    assert tuple(LINEAGE) == PATHS


def test_there_is_a_diagnostic_for_each_failed_contract_in_stage_order(rows):
    for program, request in itertools.product(PROGRAMS, REQUESTS):
        trace = run(IDENTITY, program, rows)
        failed = [stage for stage, holds in enumerate(contract_bits(trace, request)) if not holds]
        assert [LINEAGE[each.path] for each in diagnostics(trace, request)] == failed


@pytest.mark.parametrize(
    ("request_", "program", "told"),
    [
        ((0, 0, 0), (1, 0, 0), Diagnostic("selected.population", "'all' was requested, but rows are missing from the population (2 of 4 rows kept)")),
        ((1, 0, 0), (0, 0, 0), Diagnostic("selected.population", "'settled' was requested, but the population is not the settled rows (4 of 4 rows kept)")),
        ((0, 0, 0), (0, 1, 0), Diagnostic("selected.revisions", "'all' was requested, but revisions are missing (2 of 4 rows kept)")),
        ((0, 1, 0), (0, 2, 0), Diagnostic("selected.revisions", "'oldest' was requested, but an order's row is not its oldest (2 of 4 rows kept)")),
        ((0, 2, 0), (0, 0, 0), Diagnostic("selected.revisions", "'latest' was requested, but an order's row is not its latest (4 of 4 rows kept)")),
        ((0, 0, 0), (0, 0, 1), Diagnostic("amounts.unit", "'yuan' was requested, but amounts are not in yuan as they stand (the sum went from 3340000 to 33400 ten-thousandths)")),
        ((0, 0, 1), (0, 0, 0), Diagnostic("amounts.unit", "'cents' was requested, but amounts were not divided by 100 (the sum went from 3340000 to 3340000 ten-thousandths)")),
        ((0, 0, 2), (0, 0, 0), Diagnostic("amounts.unit", "'hundreds' was requested, but amounts were not multiplied by 100 (the sum went from 3340000 to 3340000 ten-thousandths)")),
    ],
)  # fmt: skip
def test_a_diagnostic_says_what_was_asked_for_and_what_the_output_shows(rows, request_, program, told):
    assert diagnostics(run(IDENTITY, program, rows), request_) == (told,)


def test_no_diagnostic_names_an_action_or_the_effect_that_it_had(rows):
    for program, request in itertools.product(PROGRAMS, REQUESTS):
        for each in diagnostics(run(IDENTITY, program, rows), request):
            wanted = EFFECTS[LINEAGE[each.path]][request[LINEAGE[each.path]]]
            quoted = each.text.split("'")[1]
            assert quoted == wanted
            assert not {"F0", "F1", "D0", "D1", "D2", "N0", "N1", "N2"} & set(each.text.split())
