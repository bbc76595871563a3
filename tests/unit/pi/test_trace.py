"""One readable episode, as text and as data."""

from __future__ import annotations

import msgspec

from surefoot.pi import trace
from surefoot.pi.compositions import composition
from surefoot.pi.trace import tell

WORLD_11 = """\
Task composition-11-000, tools of revision A, 12 rows (4 in the micro-task)
  asked for   population: settled, revision: oldest, normalization: yuan
  columns     order_id is order, row_id is row, revision is moment, settled is settled, amount is amount
  submits     (F0, D0, N0): rejected, total 1925700 from 6 rows
    selected.population: 'settled' was requested, but the population is not the settled rows (12 of 12 rows kept)
    selected.revisions: 'oldest' was requested, but an order's row is not its oldest (6 of 12 rows kept)
    amounts.unit: 'yuan' was requested, but amounts are not in yuan as they stand (the sum went from 192570000 to 19257000000 ten-thousandths)
  trial 1     F1 for population on the micro-task: kept; 2 contracts left, incentive 0.98
  trial 2     D2 for revision on the micro-task: kept; 1 contract left, incentive 0.98
  trial 3     N1 for normalization on the micro-task: kept; 0 contracts left, incentive 0.98
  submits     (F1, D2, N1): accepted, total 19240 from 3 rows
  work        84 row-stage visits
"""


def test_the_episode_of_seed_11_is_told_in_whole():
    assert "\n".join(tell(11).lines) + "\n" == WORLD_11


def test_the_same_episode_as_data():
    assert msgspec.json.decode(msgspec.json.encode(tell(11).data)) == {
        "seed": 11,
        "task": "composition-11-000",
        "revision": "A",
        "request": ["settled", "oldest", "yuan"],
        "trials": [
            {
                "stage": "population",
                "program": ["F1", "D0", "N0"],
                "committed": True,
                "incentive": 0.98,
            },
            {
                "stage": "revision",
                "program": ["F1", "D2", "N0"],
                "committed": True,
                "incentive": 0.98,
            },
            {
                "stage": "normalization",
                "program": ["F1", "D2", "N1"],
                "committed": True,
                "incentive": 0.98,
            },
        ],
        "program": ["F1", "D2", "N1"],
        "accepted": True,
        "visits": 84,
    }


def test_a_rejected_trial_is_told_with_what_it_violated(monkeypatch):
    monkeypatch.setattr(trace, "PI", composition("self_trial"))
    told = tell(11, 6)
    rejected = [number for number, line in enumerate(told.lines) if ": rejected; " in line]
    assert rejected
    for number in rejected:
        path, _, text = told.lines[number + 1].strip().partition(": ")
        assert path in {"selected.population", "selected.revisions", "amounts.unit"}
        assert "was requested, but" in text


def test_without_budget_nothing_is_tried_and_the_same_program_is_submitted_again():
    told = tell(11, 0)
    assert (told.data["trials"], told.data["accepted"], told.data["visits"]) == ([], False, 72)
    submissions = [line for line in told.lines if line.startswith("  submits")]
    assert submissions == ["  submits     (F0, D0, N0): rejected, total 1925700 from 6 rows"] * 2
