"""How a test suite checks scripts against recorded runs, without the service."""

import subprocess
import sys
from pathlib import Path

import pytest
from shop import OutOfStockError, ShopClient, service

import surefoot
from surefoot.tape.file import load_tape

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def tapes(tmp_path_factory):
    """A folder of tapes. A project of your own would keep it in its repository; see docs/own-api.md."""
    folder = tmp_path_factory.mktemp("tapes")
    with service() as server:
        execution = surefoot.record(
            ShopClient(server.url),
            HERE / "restock.py",
            folder / "monday.mcap",
            queries=["items", "stock"],
            raises=[OutOfStockError],
            check=lambda client: all(client.stock(item)["left"] > 0 for item in client.items()),
        )
    assert execution.outcome.text == "success"
    return folder


@pytest.mark.parametrize("script", ["restock.py", "restock_tidied.py"])
def test_scripts_that_make_the_recorded_calls_are_certified(certified, tapes, script):
    certified(HERE / script, tapes, ShopClient)


def test_a_script_that_orders_more_fails_with_the_place_where_it_differs(certified, tapes):
    with pytest.raises(pytest.fail.Exception) as failure:
        certified(HERE / "restock_reserve.py", tapes, ShopClient)
    text = str(failure.value)
    assert text.splitlines()[0].endswith("restock_reserve.py is certified on 0 of 1 tapes.")
    for line in (
        "Diverged at event 2: a request differs from the recorded one.",
        "receipt = client.order(item, missing)",
        "field:    count",
        "expected: 16",
        "got:      18",
        "last agreeing event: 1, client.stock(item='apples')",
    ):
        assert line in text


def test_a_script_run_by_hand_does_what_was_recorded(tapes):
    with service() as server:
        done = subprocess.run(
            [sys.executable, HERE / "restock.py", server.url], capture_output=True, text=True, check=True, cwd=HERE
        )
    assert done.stdout == load_tape(tapes / "monday.mcap").end.output
    assert (server.orders, server.goods["coffee"]["left"]) == (3, 4)
