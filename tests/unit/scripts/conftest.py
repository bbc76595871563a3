"""A user's client object in a module of its own, a script that calls it, and its recording."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import surefoot
from surefoot.tape.recording import Execution

CLIENT = '''
from __future__ import annotations

import dataclasses

from surefoot.boundary.surface import api

UNSET = object()


class StoreError(Exception):
    """What the store raises."""


class SoldOutError(StoreError):
    """It carries what is left."""

    def __init__(self, item, *, left):
        super().__init__(f"{item}: {left} left")
        self.left = left


class OfflineError(Exception):
    """Nothing that a script is meant to see."""


@dataclasses.dataclass
class Receipt:
    item: str
    count: int


class Sheet:
    """It stays with the store."""

    def __init__(self):
        self._lines = []

    @api("effect")
    def note(self, line: str) -> None:
        self._lines.append(line)

    @api("query")
    def lines(self) -> list:
        return list(self._lines)


class Base:
    def prices(self) -> dict[str, float]:
        """Prices by item."""
        return dict(self._prices)


class Store(Base):
    kind = "grocer"

    def __init__(self):
        self._prices = {"tea": 2.5, "milk": 1.0}
        self._left = {"tea": 3, "milk": 10}
        self.basket = []
        self.calls = 0
        self._sheet = Sheet()

    @property
    def address(self):
        raise RuntimeError("never asked for")

    def left(self, item: str) -> int:
        """How many are left."""
        self.calls += 1
        return self._left[item]

    def buy(self, item: str, count: int = 1, *, note: str = UNSET) -> dict:
        """Buy some."""
        if count > self._left[item]:
            raise SoldOutError(item, left=self._left[item])
        self._left[item] -= count
        self.basket.append(item)
        return {"item": item, "cost": count * self._prices[item], "noted": note is not UNSET}

    def receipt(self, item: str) -> Receipt:
        return Receipt(item, 1)

    def open_basket(self) -> list:
        return self.basket

    def sheet(self) -> Sheet:
        return self._sheet

    def list(self) -> list:
        return sorted(self._left)

    def fail(self, how: str) -> None:
        raise {"plain": Exception("it failed"), "key": KeyError("gone"), "offline": OfflineError("no route")}[how]

    @api("query")
    def marked(self) -> int:
        return 7

    async def later(self) -> None:
        """No script can await it."""

    def _hidden(self) -> None:
        """Not public."""
'''

HANDLES = '''
class RateError(Exception):
    pass


class Reading:
    def value(self):
        return 4


NOBODY = object()


class Session:
    """No mark of surefoot's in it."""

    def __init__(self):
        self.rows = [3]
        self.reading = Reading()

    def read(self, name: str, owner=NOBODY) -> list:
        if name == "none":
            raise KeyError(name)
        if name == "often":
            raise RateError("too often")
        return [*self.rows, owner is NOBODY]

    def write(self, row: int) -> None:
        self.rows.append(row)

    def basket(self) -> list:
        return self.rows

    def first(self):
        return self.reading


class Device:
    def __init__(self):
        self.session = Session()

    def open(self) -> Session:
        return self.session
'''

SCRIPT = """
for item in client.list():
    left = client.left(item)
    print(item, left, client.buy(item, count=left))
try:
    client.buy("tea")
except SoldOutError as error:
    print(error, error.left)
"""


def load_client(path: Path, text: str = CLIENT) -> ModuleType:
    """The module that a user's client stands in, as an import of `path` would give it."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """The client's module as `module`, and `edit(old, new)`, which gives it after a change of its text."""

    def edit(old: str, new: str) -> ModuleType:
        assert old in CLIENT
        return load_client(tmp_path / "store.py", CLIENT.replace(old, new))

    yield SimpleNamespace(module=load_client(tmp_path / "store.py"), edit=edit)
    sys.modules.pop("store", None)


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    """A script file: `script(text, name=…)`."""

    def write(text: str = SCRIPT, name: str = "script.py") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def recorded(store: SimpleNamespace, script: Callable[..., Path], tmp_path: Path) -> Execution:
    """The script's recording, at `tapes/day.mcap`."""
    execution = surefoot.record(
        store.module.Store(), script(), tmp_path / "tapes" / "day.mcap",
        queries=["left", "l*st", "prices"], raises=[store.module.StoreError],
    )  # fmt: skip
    assert execution.outcome.text == "success"
    return execution


@pytest.fixture
def device(tmp_path: Path) -> Iterator[ModuleType]:
    """A client whose objects stay with it, without a mark."""
    yield load_client(tmp_path / "device.py", HANDLES)
    sys.modules.pop("device", None)
