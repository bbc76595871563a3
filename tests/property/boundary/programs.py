"""Generated programs: statements over a few names, each followed by a look at everything and by a note to the callee.

A program renders as text, as it is or with an edit: one that is equivalent by construction, or one that changes
the request of a known event.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hypothesis import strategies as st
from tests.property.boundary.surfaces import Surface, surfaces

HEAD = 'STEP, NAME, MANY = 0.25, "k", 1 << 70\n'
VALUES = (
    "[1, [2], 1]", "{'k': x, 'l': x}", "np.arange(6.0)", "(1, [2])", "np.float32(0.1)", "-0.0", "MANY", "{1, 9, 17}", "STEP", "NAME",
    "'\\u00e9\\ud800'", "[x, x]", "np.eye(3)[:, 1]", "bytearray(b'ab')", "np.arange(4, dtype='>i2')", "float('nan')", "np.frombuffer(bytes.fromhex('010000000000f8ff'), '<f8').item()", "-1 << 80", "x", "y", "z", "r", "h",
    "y[1:4]", "y[::2]", "y[::-1]", "np.array(['a', 'bc'])", "b'x'", "np.str_('s')", "complex(0, -0.0)", "frozenset([1, 'a'])", "True", "1", "1.0",
    "Point(1.5)", "Point([x], y)", "Box([x])", "Box(z)", "Mode.B", "Mode.A_TOO", "Mode.A == 1", "sorted([Point(2, 1), Point(1, 2)])", "repr(Point(1))", "Point(1) == Point(1, 2.0, [5])", "Pair(1)", "Perm.READ | Perm.WRITE", "Pair(x, 2)", "Pair((1, 2), r)", "Perm(0)",
    "collections.Counter('aba')", "collections.deque(x, 4)", "collections.deque([x, [1]])", "collections.defaultdict(list, k=x)",
    "collections.OrderedDict(b=x, a=1)", "decimal.Decimal('1.10')", "datetime.date(2020, 1, 2)", "range(3)", "slice(1, 2)", "...",
    "np.datetime64('2020-01-01')", "np.zeros(2, [('u', '<f4'), ('v', '>i2')])", "ValueError('mine', x)", "[h, h]", "{h: 1, 'h': h}", "(h, x)",
    "(x, x)", "((1, 2), (1, 2))", "[(1, r), z]", "np.frombuffer(b'abcdefgh', '>u2')", "np.arange(6.0).reshape(2, 3)", "np.arange(6.0).reshape(2, 3).T",
    "np.timedelta64('NaT')", "{Pair(1, 2), (1, 'b')}", "lambda: 0", "object()", "np.array([None])",
)  # fmt: skip
PLACES = ("'a'", "'b'", "'log'", "'k'", "'m'", "NAME", "'deep'", "'error'", "'box'", "'pair'", "'all'")
LOCAL = (
    "x.append({0})", "x[1] = x", "x[:] = x[1:]", "x.reverse()", "y[0] = 7.0", "y[1:3] = y[2:4]", "y.flags.writeable = False", "y.flags.writeable = True",
    "z['m'] = {0}", "z['k'], z['l'] = {0}, {0}", "del z['k']", "z = dict(reversed(z.items()))", "{r}[0] = 3.0", "{r}.append({0})", "{r}.item = {0}",
    "{r}.x = {0}", "{r}.extra = 1", "{r}['new'] = {0}", "{r} += 1", "{r}.sort()", "{r}.add(5)", "{r}.appendleft({0})", "{r}.add_note('mine')",
    "{r}.args = ({0},)", "{r}.maxlen", "{r}.rotate()", "{r}.most_common()", "{r}['nothing']",
    "state['k'] = {0}", "state[{key}] = {0}", "state[{key}] = [{0}, {1}]", "state.pop({key}, None)", "state['log'].append({0})", "state['a'][0] = 9.0",
    "state['a'] = np.arange(3.0)", "state['a'] = state['a'][::-1]", "state['k'] = state['m'] = {0}", "state['k'].append({0})", "state['k'][0] = {0}",
    "state['a'].flags.writeable = False", "state['a'].flags.writeable = True", "state['b'][...] = 2", "state['log'] = state['log'][:]", "state['k'].item = {0}",
    "state['deep']['l'].append({0})", "state['deep']['s'].add(7)", "state['box'].item = {0}", "state['box'].name = NAME", "state['k'] = state",
    "state['error'].mark = {0}", "state['all'][1] += 1", "state['k'] = state[{key}]", "state['m'] = {'k': state[{key}]}", "state['k'] = y; y[2] = 4.0",
    "{r} = state[{key}]", "{r} = state['a'][1:]", "{r} = state['a'][:2]", "{r} = state['log'][0]", "{r} = state", "{r} = {0}[1:]", "{r} = {0}[0]",
    "{r} = {0}['k']", "{r} = {0}.item", "{r} = [{0}, {1}]", "{r} = ({0}, {1}, {0})", "{r} = {'k': {0}, 'l': {1}}", "{r} = 0 if isinstance({0}, (set, frozenset)) else list({0})", "{r} = {0}.copy()",
    "{r} = {0}", "print(one({0}, {1}))", "print({0} == {1})", "print(isinstance({0}, (list, tuple)), len({0}))", "h = None", "r = h",
    "print(time.time(), time.monotonic(), time.perf_counter_ns())", "time.sleep(0.5)", "time.sleep(STEP)", "time.sleep(-1)",
    "print(time.ctime(), time.strftime('%H:%M:%S'), time.localtime()[:6])", "{r} = time.time()",
    "print(random.random(), np.random.rand(2))", "{r} = random.sample(range(9), 3)", "{r} = np.random.randint(0, 9, 3)", "random.shuffle(x)",
    "order(secrets.token_hex(4), uuid.uuid4(), np.random.default_rng().random(), random.Random().random(), os.urandom(2))",
    "note(secrets.randbelow(9 ** 9))", "note(np.random.default_rng().random(2))", "note(list(set('abcdef')))", "note({'a', 'b', 'c', (1, 'x')})", "order(set('abcdef'))",
    "note(list({0}) if isinstance({0}, (set, frozenset)) else 0)", "note(random.random())", "note({0})", "note([{0}, {1}, {0}])",
    "for number in range(3):\n    x.append(number)\n    note(x)", "for item in list(x):\n    note(item)", "if time.time() > 0:\n    note(STEP)",
    "try:\n    {r}[0] = {0}\nfinally:\n    print('done')", "try:\n    note(object())\nexcept TypeError as error:\n    {r} = caught(error)",
    "def inner(value):\n    note(value)\n    return [value]\n{r} = inner({0})",
)  # fmt: skip
ENDINGS = ("", "", "", "", "", "", "sys.exit(0)", "sys.exit(3)", "raise ValueError('end', 1)", "raise r if isinstance(r, ToyError) else KeyError('r')", "1 / 0",
           "fail('toy', x)", "print('last'); sys.exit()")  # fmt: skip
NAMES = st.sampled_from(("x", "y", "z", "r"))
OPERANDS = st.one_of(NAMES, NAMES, st.sampled_from(VALUES))
TARGETS = st.sampled_from(("r", "r", "r", "x", "z", "y"))
KEYS = st.sampled_from(PLACES)
NOTE = "note(({number}, 0.0, True, 1))"


class Edit(NamedTuple):
    """An edit of a program. Of those that keep all requests `target` is -1, else the statement whose note changes."""

    kind: str
    target: int = -1


SAME = ("rename", "silent", "busy", "drop", "inline", "regrow")
OTHER = ("-0.0", "1.0", "True", "two", "skip", "repeat", "state", "local")


class Program(NamedTuple):
    """A surface, statements and an ending; `text` renders it."""

    surface: Surface
    statements: tuple[str, ...]
    ending: str

    def text(self, edit: Edit | None = None) -> str:
        """The program as it is, or edited."""
        kind, target = edit or ("", -1)
        head = HEAD
        parts: list[str] = []
        for number, statement in enumerate(self.statements):
            part = f"try:\n{_indented(statement)}\nexcept Exception as error:\n    caught(error)\n"
            part += (
                ""
                if kind in ("silent", "drop")
                else "see(h, x, y, z, r, state)\n"
                if self.surface.has_state
                else "see(h, x, y, z, r)\n"
            )
            note = NOTE.format(number=number + 100) + "\n"
            if number == target:
                part, note = _changed(kind, part, note)
            part += note
            if kind == "busy":
                part = _busy(number, self.statements) + part
            if kind == "drop":
                part += _dropped(self.statements[number + 1 :], self.ending)
            parts.append(part)
        text = head + "".join(parts) + self.ending + "\n"
        if kind == "rename":
            names = {name: f"{name}_renamed" for name in "xyzrh"}
            text = f"{', '.join(names.values())} = {', '.join(names)}\n" + _renamed(text, names)
        if kind == "regrow":  # these three collide in a set's table, so their order there is that of insertion
            text = text.replace("{1, 9, 17}", "{17, 1, 9}")
        if kind == "inline":
            text = _renamed(
                text.replace(HEAD, HEAD.replace("STEP, NAME, MANY = ", "_ = ")),
                {"STEP": "0.25", "NAME": '"k"', "MANY": "1 << 70"},
            )
        return text

    def places(self, edit: Edit) -> tuple[int, ...]:
        """The line of the unedited text from which on the first event is the one that the edit changes."""
        number = edit.target
        before = Program(self.surface, self.statements[:number], "").text().count("\n")
        if edit.kind == "state":
            return (before,)
        text = self.text()
        return (text.count("\n", 0, text.index(NOTE.format(number=number + 100))) + 1,)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def _changed(kind: str, part: str, note: str) -> tuple[str, str]:
    if kind == "state":
        return f"state['changed'] = 1\n{part}", note
    changed = {
        "-0.0": note.replace(" 0.0", " -0.0"),
        "1.0": note.replace(" 1)", " 1.0)"),
        "True": note.replace(" 1)", " True)"),
        "two": note.replace(" 1)", " 2)"),
        "skip": "",
        "repeat": note * 2,
        "local": note.replace("note(", "note([").replace("))\n", ")])\n"),
    }
    return part, changed[kind]


def _busy(number: int, statements: tuple[str, ...]) -> str:
    everything = " ".join(statements)
    draws = "".join(
        f"{draw}; "
        for draw in ("random.random()", "np.random.rand()")
        if draw.partition("(")[0].rpartition(".")[0] + "." not in everything
    )
    return f"_busy = [repr(x), np.arange(3.0) * {number}, {{'q': [x, r]}}, time.time(), x is y]; {draws}print(len(_busy))\n"


def _dropped(later: tuple[str, ...], ending: str) -> str:
    text = "\n".join((*later, ending))
    return "".join(f"{name} = None\n" for name in "xyzrh" if not re.search(rf"\b{name}\b", text))


def _renamed(text: str, names: dict[str, str]) -> str:
    found = re.compile(rf"(?<![\w.'\"\\])({'|'.join(names)})(?![\w'\"=])")
    return found.sub(lambda match: names[match[1]], text)


@st.composite
def statements(draw: st.DrawFn, surface: Surface) -> str:
    """One statement: a value for a name, a call, or something done locally."""
    which = draw(st.integers(0, 9))
    if which < 2:
        return f"{draw(TARGETS)} = {draw(st.sampled_from(VALUES))}"
    template = draw(st.sampled_from(surface.calls if which < 7 else LOCAL))
    for place, strategy in (("{r}", TARGETS), ("{0}", OPERANDS), ("{1}", OPERANDS), ("{key}", KEYS)):
        if place in template:
            value = draw(strategy)
            for after in ".[ ":
                template = template.replace(place + after, (value if value.isidentifier() else f"({value})") + after)
            template = template.replace(place, value)
    for number in (16, 17):
        if f"{{n{number}}}" in template:
            template = template.replace(f"{{n{number}}}", str(draw(st.integers(0, number - 1))))
    return template


@st.composite
def programs(draw: st.DrawFn, most: int = 12) -> tuple[Program, Edit]:
    """A program on a surface of its own, and an edit to try on it."""
    surface = draw(surfaces())
    lines = draw(st.lists(statements(surface), min_size=draw(st.integers(1, most)), max_size=most + 4))
    program = Program(surface, tuple(lines), draw(st.sampled_from(ENDINGS)))
    kind = draw(st.sampled_from((*SAME, *OTHER)))
    if kind in SAME or (kind == "state" and not surface.has_state):
        return program, Edit(kind if kind in SAME else "silent")
    return program, Edit(kind, draw(st.integers(0, len(lines) - 1)))
