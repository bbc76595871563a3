"""`surefoot.record`: what a script sees of a user's object, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import surefoot
from surefoot.errors import InvalidProgramError, TapeError, UsageError
from surefoot.tape.certificate import Certified, Unavailable
from surefoot.tape.file import load_tape


def run(store, script, text, tmp_path, **options):
    """How a script ends, and what it prints."""
    tape = tmp_path / f"{len(list(tmp_path.iterdir()))}.mcap"
    execution = surefoot.record(store.module.Store(), script(text), tape, **options)
    return execution.outcome.text, execution.tape.end.output


def test_a_script_calls_the_methods_under_the_client_s_name_and_its_calls_are_on_the_tape(recorded, tmp_path):
    assert recorded.tape.end.output == (
        "milk 10 {'item': 'milk', 'cost': 10.0, 'noted': False}\n"
        "tea 3 {'item': 'tea', 'cost': 7.5, 'noted': False}\n"
        "tea: 0 left 0\n"
    )
    tape = load_tape(tmp_path / "tapes" / "day.mcap")
    assert tape.id == recorded.tape.id
    assert recorded.tape.path == tmp_path / "tapes" / "day.mcap"
    assert [(event.function, event.kind, event.raised) for event in tape.events] == [
        ("client.list", "query", False),
        ("client.left", "query", False),
        ("client.buy", "effect", False),
        ("client.left", "query", False),
        ("client.buy", "effect", False),
        ("client.buy", "effect", True),
    ]
    assert tape.header.task == "store:Store"


def test_the_surface_holds_public_methods_with_their_marks_and_nothing_else(recorded):
    surface = recorded.tape.header.surface
    kinds = {function.name: function.kind for function in surface.functions}
    assert kinds == {
        "client.prices": "query", "client.left": "query", "client.buy": "effect", "client.receipt": "effect",
        "client.open_basket": "effect", "client.sheet": "effect",
        "client.list": "query", "client.fail": "effect", "client.marked": "query",
    }  # fmt: skip
    assert surface.page().startswith(
        "client.prices() -> dict[str, float]    # query\n"
        "    Prices by item.\n"
        "    Raises: StoreError, SoldOutError, Exception\n"
    )
    assert surface["client.buy"].signature == "(item: str, count: int = 1, *, note: str = '<default of note>') -> dict"


def test_python_s_own_exceptions_are_seen_as_they_are(store, script, tmp_path):
    text = """
for how in ("plain", "key"):
    try:
        client.fail(how)
    except Exception as error:
        print(type(error).__name__, error.args)
"""
    assert run(store, script, text, tmp_path) == ("success", "Exception ('it failed',)\nKeyError ('gone',)\n")


def test_another_exception_is_no_failure_of_the_script_and_its_text_names_the_remedy(store, script, tmp_path):
    text = "try:\n    client.fail('offline')\nexcept Exception:\n    pass\n"
    assert run(store, script, text, tmp_path)[0] == (
        "infrastructure: client.fail raised store.OfflineError (no route), which the script is not meant to see; if it "
        "is, record with raises=(OfflineError,)"
    )


def test_a_declared_exception_of_python_brings_the_subclasses_that_are_loaded(store, script, tmp_path):
    text = "try:\n    client.buy('tea', 9)\nexcept SoldOutError as error:\n    print(error.left)"
    changed = store.edit("class StoreError(Exception)", "class StoreError(OSError)")
    execution = surefoot.record(changed.Store(), script(text), tmp_path / "a.mcap", raises=[OSError])
    assert (execution.outcome.text, execution.tape.end.output) == ("success", "3\n")


def test_a_parameter_whose_default_is_no_literal_gets_its_default_unless_it_is_passed(store, script, tmp_path):
    text = "print(client.buy('tea')['noted'], client.buy('tea', note='gift')['noted'])"
    assert run(store, script, text, tmp_path) == ("success", "False True\n")


def test_methods_are_functions_where_the_client_has_no_name(store, script, tmp_path):
    assert run(store, script, "print(left('tea'))", tmp_path, name=None) == ("success", "3\n")
    assert run(store, script, "print(shop.left('tea'))", tmp_path, name="shop") == ("success", "3\n")


def test_a_method_named_like_a_builtin_hides_none(store, script, tmp_path):
    assert run(store, script, "print(list(client.list()))", tmp_path) == ("success", "['milk', 'tea']\n")


def test_what_is_no_method_is_an_attribute_error_in_the_script(store, script, tmp_path):
    assert run(store, script, "\nclient.later()", tmp_path)[0] == (
        "failure: raised at line 2: AttributeError: 'client' object has no attribute 'later'"
    )


def test_declared_types_cross(store, script, tmp_path):
    text = "receipt = client.receipt('tea')\nprint(receipt, receipt.count)"
    assert run(store, script, text, tmp_path, types=[store.module.Receipt]) == (
        "success",
        "Receipt(item='tea', count=1) 1\n",
    )
    assert "client.receipt returned what can't cross" in run(store, script, text, tmp_path)[0]


def test_shared_objects_stay_one_and_the_same(store, script, tmp_path):
    text = "basket = client.open_basket()\nclient.buy('tea')\nprint(basket, basket is client.open_basket())"
    assert run(store, script, text, tmp_path, shared="all") == ("success", "['tea'] True\n")
    assert run(store, script, text, tmp_path) == ("success", "[] False\n")


def test_success_is_what_the_check_says_of_the_object(store, script, tmp_path):
    def check(client):
        return client.basket == ["tea"]

    assert run(store, script, "client.buy('tea')", tmp_path, check=check)[0] == "success"
    assert run(store, script, "client.buy('milk')", tmp_path, check=check)[0] == (
        "failure: the program ended, but the evaluator does not accept the state"
    )


def test_the_clock_is_the_host_s_and_sleep_really_sleeps(store, script, tmp_path):
    text = "import time\nbefore = time.time()\ntime.sleep(0.02)\nprint(0.02 <= time.time() - before < 5.0)"
    assert run(store, script, text, tmp_path) == ("success", "True\n")


def test_time_passes_with_effects_and_not_with_queries(store, script, tmp_path):
    text = """
import time
seen = [time.time()]
for call in (client.list, client.open_basket):
    call()
    seen.append(time.time())
print(seen[1] == seen[0], seen[2] > seen[1])
"""
    assert run(store, script, text, tmp_path, queries=["list"]) == ("success", "True True\n")


def test_the_tape_of_a_run_that_failed_goes_beside_the_others_and_can_be_tried_again(store, script, tmp_path):
    place = tmp_path / "tapes" / "day.mcap"
    failed = surefoot.record(store.module.Store(), script("client.left('beer')"), place)
    assert failed.outcome.text == "failure: raised at line 1: KeyError: 'beer'"
    assert failed.tape.path == tmp_path / "tapes" / "failures" / f"day.{failed.tape.id[:12]}.mcap"
    assert load_tape(failed.tape.path).end.outcome == failed.outcome
    assert surefoot.record(store.module.Store(), script("client.left('tea')"), place).tape.path == place
    assert sorted(path.name for path in place.parent.iterdir()) == ["day.mcap", "failures"]


def test_a_tape_is_never_overwritten_and_the_script_is_not_run(store, script, tmp_path):
    place = tmp_path / "taken.mcap"
    place.write_bytes(b"mine")
    client = store.module.Store()
    with pytest.raises(TapeError) as error:
        surefoot.record(client, script("client.left('tea')"), place)
    assert str(error.value) == f"There is already a file at {place}. Tapes are never overwritten; name another."
    assert (place.read_bytes(), client.calls) == (b"mine", 0)


def test_an_invalid_program_is_an_error_and_leaves_no_tape(store, script, tmp_path):
    path = script("import threading")
    with pytest.raises(InvalidProgramError) as error:
        surefoot.record(store.module.Store(), path, tmp_path / "a.mcap")
    assert str(error.value).startswith(f"{path}, line 1: it imports threading")
    assert not list(tmp_path.glob("*.mcap"))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"queries": ["lefts"]}, "There is no method 'lefts'. Did you mean 'left'? Available: buy, fail, left, list, marked, "
                                 "open_basket, prices, receipt, sheet."),
        ({"queries": "left"}, "queries takes several: queries=('left',)."),
        ({"raises": KeyError}, "raises takes several: raises=(KeyError,)."),
        ({"raises": [Exception]}, "raises=(Exception,) would declare every exception there is; name those that scripts "
                                  "handle."),
        ({"raises": [3]}, "raises takes exception classes, not 3."),
        ({"name": "my client"}, "name is what the script calls the object, such as 'client'; 'my client' is no Python name."),
        ({"name": "time"}, "A script knows something else as 'time' already; give the object another name."),
        ({"types": [int]}, "builtins.int can't be declared: types=(...) takes dataclasses, enums, named tuples, and classes "
                           "with public methods, whose objects stay with you (handles); exceptions go into raises=(...)."),
        ({"types": ["Mode"]}, "types takes classes, not 'Mode'."),
        ({"shared": "al"}, "shared takes 'all' or several classes, not 'al'."),
        ({"shared": int}, "shared takes several: shared=(int,)."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_sentence(store, script, tmp_path, options, text):
    with pytest.raises(UsageError) as error:
        surefoot.record(store.module.Store(), script(), tmp_path / "a.mcap", **options)
    assert str(error.value) == text
    assert not list(tmp_path.glob("*.mcap"))


def test_a_class_or_an_object_without_methods_is_refused(store, script, tmp_path):
    with pytest.raises(UsageError) as error:
        surefoot.record(store.module.Store, script(), tmp_path / "a.mcap")
    assert str(error.value) == "record takes the object that the script calls, not its class: Store(…)."
    with pytest.raises(UsageError) as error:
        surefoot.record(object(), script(), tmp_path / "a.mcap")
    assert str(error.value) == (
        "An object of type object has no public methods that a script could call. Pass the client object itself."
    )


def test_a_class_without_a_file_needs_a_version(script, tmp_path):
    typed = type("Typed", (), {"left": lambda self, item: 1, "__module__": "nowhere"})
    with pytest.raises(UsageError) as error:
        surefoot.record(typed(), script("client.left('tea')"), tmp_path / "a.mcap")
    assert str(error.value) == (
        "The source of nowhere:Typed can't be found, so a change of it would go unnoticed. Put it into a file, or name its "
        "version: revision='1'."
    )
    execution = surefoot.record(typed(), script("client.left('tea')"), tmp_path / "a.mcap", revision="1")
    assert execution.tape.header.revision.endswith(" 1")


def test_functions_on_a_namespace_do_as_well_and_a_module_is_refused_with_that_remedy(store, script, tmp_path):
    functions = SimpleNamespace(left=store.module.Store().left)
    path = script("print(client.left('tea'))")
    execution = surefoot.record(functions, path, tmp_path / "a.mcap")
    assert execution.tape.end.output == "3\n"
    assert isinstance(surefoot.replay(path, tmp_path / "a.mcap", functions), Certified)
    store.edit('"tea": 3', '"tea": 4')
    assert isinstance(surefoot.replay(path, tmp_path / "a.mcap", functions), Unavailable)
    with pytest.raises(UsageError) as error:
        surefoot.record(store.module, path, tmp_path / "b.mcap")
    assert str(error.value) == (
        "record takes an object with methods, not the module store. Put the functions that the script calls on one: "
        "types.SimpleNamespace(order=shop.order)."
    )


def test_objects_that_stay_with_the_client_are_handles(store, script, tmp_path):
    text = "sheet = client.sheet()\nsheet.note('a')\nsheet.note('b')\nprint(sheet.lines(), client.sheet() is sheet)"
    execution = surefoot.record(store.module.Store(), script(text), tmp_path / "a.mcap", types=[store.module.Sheet])
    assert (execution.outcome.text, execution.tape.end.output) == ("success", "['a', 'b'] True\n")
    assert isinstance(surefoot.replay(script(text), tmp_path / "a.mcap", store.module.Store), Certified)
    certificate = surefoot.replay(script(text.replace("'b'", "'c'")), tmp_path / "a.mcap")
    assert (certificate.expected, certificate.got) == ("'b'", "'c'")


def with_device(device, path, tmp_path, **options):
    return surefoot.record(device.Device(), path, tmp_path / f"{len(list(tmp_path.iterdir()))}.mcap", **options)


def test_a_class_without_marks_is_a_handle_with_the_same_queries_exceptions_and_types(device, script, tmp_path):
    text = """
session = client.open()
session.write(5)
print(session.read("a"), session.read("a", owner="me"), session.first().value())
for name in ("none", "often"):
    try:
        session.read(name)
    except (KeyError, RateError) as error:
        print(type(error).__name__, error)
"""
    path = script(text)
    types = [device.Session, device.Reading]
    execution = with_device(
        device, path, tmp_path, types=types, raises=[device.RateError], queries=["read", "Reading.v*"]
    )
    assert execution.outcome.text == "success"
    assert execution.tape.end.output == "[3, 5, True] [3, 5, False] 4\nKeyError 'none'\nRateError too often\n"
    kinds = {(event.function, event.kind) for event in execution.tape.events}
    assert {("Session.read", "query"), ("Session.write", "effect"), ("Reading.value", "query")} <= kinds
    assert isinstance(surefoot.replay(path, execution.tape.path, device.Device), Certified)


def test_what_a_handle_raises_beyond_raises_names_the_remedy(device, script, tmp_path):
    execution = with_device(device, script("client.open().read('often')"), tmp_path, types=[device.Session])
    assert execution.outcome.text == (
        "infrastructure: Session.read raised device.RateError (too often), which the script is not meant to see; if it is, "
        "record with raises=(RateError,)"
    )


def test_time_passes_with_the_effects_of_handles(device, script, tmp_path):
    text = """
import time
session = client.open()
seen = [time.time()]
for call in (lambda: session.read("a"), lambda: session.write(1)):
    call()
    seen.append(time.time())
print(seen[1] == seen[0], seen[2] > seen[1])
"""
    execution = with_device(device, script(text), tmp_path, types=[device.Session], queries=["Session.read"])
    assert execution.tape.end.output == "True True\n"


def test_shared_holds_for_what_handles_give(device, script, tmp_path):
    path = script("session = client.open()\nrows = session.basket()\nsession.write(1)\nprint(rows)")
    for shared, shown in (("all", "[3, 1]\n"), ([list], "[3, 1]\n"), ((), "[3]\n")):
        execution = with_device(device, path, tmp_path, types=[device.Session], shared=shared)
        assert execution.tape.end.output == shown


def test_an_object_that_is_not_declared_names_the_remedy(device, script, tmp_path):
    assert with_device(device, script("client.open()"), tmp_path).outcome.text == (
        "infrastructure: client.open returned what can't cross: A value of type device.Session can't cross the boundary: "
        "its type is not declared on the surface; to let it stay where it is and call its methods, declare it with "
        "types=(Session,), an argument of record or @api (see docs/own-api.md), or pass what is needed of it."
    )


def test_exceptions_of_a_marked_handle_are_seen_as_well(store, script, tmp_path):
    changed = store.edit("self._lines.append(line)", "raise SoldOutError(line, left=int(line))")
    text = """
for line in ("2", "x"):
    try:
        client.sheet().note(line)
    except (SoldOutError, ValueError) as error:
        print(error)
"""
    execution = surefoot.record(
        changed.Store(), script(text), tmp_path / "a.mcap", types=[changed.Sheet], raises=[changed.StoreError]
    )
    assert execution.outcome.text == "success"
    assert execution.tape.end.output == "2: 2 left\ninvalid literal for int() with base 10: 'x'\n"
    assert execution.tape.header.surface["Sheet.lines"].kind == "query"


@pytest.mark.parametrize("value", ["'x'", "client.receipt('tea')"])
def test_a_handle_s_method_called_on_something_else_is_the_script_s_own_error(store, script, tmp_path, value):
    text = f"try: Sheet.note({value}, 'y')\nexcept TypeError as error: print(error)"
    types = [store.module.Sheet, store.module.Receipt]
    execution = surefoot.record(store.module.Store(), script(text), tmp_path / "a.mcap", types=types)
    assert execution.tape.end.output.startswith("Sheet.note is a method of Sheet objects, not of ")
    assert len(execution.tape.events) == ("client" in value)
