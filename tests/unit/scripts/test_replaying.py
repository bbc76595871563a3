"""`surefoot.replay`: edited scripts, and clients that changed since the recording."""

from __future__ import annotations

import pytest

import surefoot
from surefoot.errors import TapeError, UsageError
from surefoot.program.source import Program
from surefoot.scripts.replaying import Replayer
from surefoot.tape.certificate import Certified, Diverged, Unavailable
from surefoot.tape.replay import Interpreters

TIDIED = """
def buy_all(name):
    there = client.left(item=name)
    return there, client.buy(name, there)


wanted = client.list()
print([buy_all(name) for name in wanted])
try:
    client.buy("tea", 1)
except SoldOutError:
    pass
"""


@pytest.fixture
def tape(recorded):
    """The recorded tape's path."""
    return recorded.tape.path


def test_an_edit_that_makes_the_same_calls_is_certified_without_calling_the_object(recorded, tape, store, script):
    client = store.module.Store()
    assert surefoot.replay(script(TIDIED), tape, client) == Certified(6)
    assert client.calls == 0


def test_another_call_diverges_with_place_and_values(tape, script):
    certificate = surefoot.replay(script(TIDIED.replace("name, there)", "name, there - 1)")), str(tape))
    assert isinstance(certificate, Diverged)
    found = (
        certificate.kind,
        certificate.event,
        certificate.line,
        certificate.field,
        certificate.expected,
        certificate.got,
    )
    assert found == ("argument", 2, 4, "count", "10", "9")
    assert certificate.last.call == "client.left(item='milk')"


def test_a_read_more_is_certified_modulo_queries_where_asked_for(tape, script):
    path = script(TIDIED.replace("return there", "print(client.left(name))\n    return there"))
    assert isinstance(surefoot.replay(path, tape), Diverged)
    certificate = surefoot.replay(path, tape, modulo=True)
    assert isinstance(certificate, Certified)
    assert (certificate.modulo, certificate.added) == ("queries", 2)


def test_a_client_whose_source_changed_makes_the_tape_unavailable_only_where_it_is_given(tape, store, script):
    changed = store.edit('"tea": 3', '"tea": 4').Store
    certificate = surefoot.replay(script(TIDIED), tape, changed)
    assert isinstance(certificate, Unavailable)
    assert certificate.reason == "environment changed"
    assert surefoot.replay(script(TIDIED), tape) == Certified(6)


def test_a_recorded_method_with_another_signature_is_named(store, script, tmp_path):
    path, place = script("client.left('tea')"), tmp_path / "b.mcap"
    class_then = type("Kiosk", (), {"__module__": "kiosk", "left": lambda self, item: 1})
    class_now = type("Kiosk", (), {"__module__": "kiosk", "left": lambda self, item, unit="kg": 1})
    surefoot.record(class_then(), path, place, revision="1")
    assert surefoot.replay(path, place, class_then) == Certified(1)
    certificate = surefoot.replay(path, place, class_now)
    assert certificate == Unavailable("surface changed", "client.left changed since the recording")
    assert isinstance(
        surefoot.replay(path, place, type("Kiosk", (), {"__module__": "kiosk", "go": lambda self: 1})), Unavailable
    )


def test_a_version_counts_only_where_it_is_given(store, script, tmp_path):
    path, place = script("client.left('tea')"), tmp_path / "b.mcap"
    surefoot.record(store.module.Store(), path, place, revision="api 3")
    assert surefoot.replay(path, place, store.module.Store) == Certified(1)
    assert surefoot.replay(path, place, store.module.Store, revision="api 3") == Certified(1)
    certificate = surefoot.replay(path, place, store.module.Store, revision="api 4")
    assert isinstance(certificate, Unavailable)
    assert certificate.reason == "environment changed"


def test_a_tape_of_another_class_is_a_sentence(tape, store, script):
    with pytest.raises(UsageError) as error:
        surefoot.replay(script(TIDIED), tape, store.module.Base)
    assert str(error.value) == (
        f"{tape} was recorded on store:Store, not on store:Base. Give the object or class that it was recorded with."
    )


def test_a_file_that_is_no_tape_is_a_tape_error(script, tmp_path):
    with pytest.raises(TapeError, match="There is no tape at"):
        surefoot.replay(script(), tmp_path / "none.mcap")


def test_what_was_replayed_before_moves_no_program_s_objects(tape_of):
    order = "kinds = [type(f'C{i}', (), {}) for i in range(8)]\necho([kinds.index(kind) for kind in set(kinds)])\n"
    tape = tape_of(order)
    with Replayer() as replayer:
        for source in ("from scipy.spatial import transform", "import scipy.stats"):
            assert not isinstance(replayer.replay(Program(source), tape), Certified)
        assert isinstance(replayer.replay(Program(tape.header.program), tape), Certified)


def test_no_more_interpreters_are_kept_than_are_worth_it(monkeypatch, descriptors):
    monkeypatch.setattr("surefoot.tape.replay.MOST_INTERPRETERS", 1)
    before, interpreters = descriptors(), Interpreters()
    first = interpreters.of(Program("x = 1"))
    assert interpreters.of(Program("y = 2")) is first
    assert interpreters.of(Program("import numpy")) is not first
    interpreters.close()
    assert descriptors() == before
