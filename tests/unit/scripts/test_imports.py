"""A script that imports what the host gives it would have two classes of one name: it is refused before the run."""

from __future__ import annotations

import pytest

import surefoot
from surefoot.errors import InvalidProgramError

GUARDED = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from store import SoldOutError
if "client" not in globals():
    from store import SoldOutError, Store
    client = Store()
try:
    client.buy("tea", 9)
except SoldOutError as error:
    print(error.left)
"""


def record(store, path, tmp_path):
    return surefoot.record(
        store.module.Store(), path, tmp_path / "tapes" / "a.mcap", raises=[store.module.StoreError],
        types=[store.module.Receipt],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("import math\nfrom store import SoldOutError", 2, "SoldOutError"),
        ("from store import Receipt as Bill", 1, "Receipt"),
        ("from store import *", 1, "StoreError"),
        ("import store\nprint(store.Receipt)", 2, "Receipt"),
        ("import store as shop\ndef bill():\n    return shop.Receipt", 3, "Receipt"),
    ],
)
def test_an_import_of_a_declared_type_is_refused_at_its_line(store, script, tmp_path, text, line, name):
    path = script(text)
    with pytest.raises(InvalidProgramError) as error:
        record(store, path, tmp_path)
    assert str(error.value) == (
        f"{path}, line {line}: it takes {name} from store, which would be another class than the {name} that the host "
        f'gives the script. Use {name} as it is, and import it only under if "client" not in globals():.'
    )
    assert not (tmp_path / "tapes").exists()


def test_a_module_beside_the_script_may_not_import_them_either(store, script, tmp_path):
    script("from store import SoldOutError\n", name="helper.py")
    path = script("import helper")
    with pytest.raises(InvalidProgramError) as error:
        record(store, path, tmp_path)
    assert str(error.value).startswith(f"helper (imported by {path}), line 1: it takes SoldOutError from store, ")


def test_imports_for_a_run_by_hand_and_other_names_of_the_module_are_none_of_that(store, script, tmp_path):
    execution = record(store, script(GUARDED), tmp_path)
    assert (execution.outcome.text, execution.tape.end.output) == ("success", "3\n")
    edited = script("from store import UNSET\n" + GUARDED, name="edited.py")
    assert surefoot.replay(edited, execution.tape.path).text.startswith("certified")


def test_a_replay_refuses_it_as_well(store, script, tmp_path):
    tape = record(store, script(GUARDED), tmp_path).tape.path
    path = script("from store import SoldOutError\n" + GUARDED, name="edited.py")
    with pytest.raises(InvalidProgramError, match=r'line 1: it takes SoldOutError .* under if "client" not in globals'):
        surefoot.replay(path, tape)
