"""Generated surfaces: an API class as text, made of method templates with random declarations.

A method only does what its declaration allows: beyond a call it keeps nothing but copies, what is in the public
state, and objects of the types that it declares as shared.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

METHOD_HEAD = "    @api({kind!r}, raises={raises}, types={types}, shared={shared})\n"
ERRORS = "(ToyError, SubError, KeyError, TypeError, ValueError, IndexError, AttributeError, FileNotFoundError, ZeroDivisionError)"


class Method(NamedTuple):
    """A template: what kinds it may be declared as, its text, whether it keeps shared objects, calls to it."""

    kinds: tuple[str, ...]
    keeps: bool
    text: str
    calls: tuple[str, ...]


Q, E, QE = ("query",), ("effect",), ("query", "effect")
ALWAYS = {
    "note": Method(QE, False, "    def note(self, value): self.intact()\n", ()),
    "describe": Method(
        Q,
        False,
        "    def describe(self, *values): return look(*values, self.s)\n",
        ("print(describe({0}))", "print(describe({0}, {1}))", "print(describe([{0}, {1}, {0}]))"),
    ),
}
METHODS = {
    "echo": Method(
        QE,
        False,
        "    def echo(self, *values, **named): return (values, named) if named else values[0] if len(values) == 1 else values\n",
        ("{r} = echo({0})", "{r} = echo({0}, {1})", "{r} = echo({0}, k={1})"),
    ),
    "peek": Method(
        Q,
        False,
        "    def peek(self, name): return self.s[name]\n",
        ("{r} = peek({key})", "{r} = [peek({key}), peek({key})]", "print(one(peek({key}), peek({key})))"),
    ),
    "part": Method(
        Q,
        False,
        "    def part(self, name, start=0, /, stop=2, *, step=1): return self.s[name][start:stop:step]\n",
        ("{r} = part({key})", "{r} = part('a', 1, 3)", "{r} = part('a', 3, 0, step=-1)", "{r} = part('b', stop=1)"),
    ),
    "same": Method(
        Q,
        False,
        "    def same(self, first, second):\n"
        "        arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)\n"
                "        return [one(first, second), arrays and np.shares_memory(first, second)]\n",
        ("print(same({0}, {1}))", "print(same({0}, {0}))", "print(same({0}, state.get({key})))"),
    ),
    "wrap": Method(QE, False, "    def wrap(self, value): return {'k': value, 'l': [value]}, value\n", ("{r} = wrap({0})",)),
    "nested": Method(
        QE,
        False,
        "    def nested(self, value):\n"
        "        found = {'box': Box(value), 'list': [value]}\n"
        "        found['self'], found['list'][1:] = found, [found['list'], found['box']]\n"
        "        return found\n",
        ("{r} = nested({0})",),
    ),
    "kinds": Method(
        Q,
        False,
        "    def kinds(self, number):\n"
        "        deque, many = collections.deque([1, [2]], 3), collections.defaultdict(list, a=[1])\n"
        "        plain = [range(3, 9, 2), decimal.Decimal('-0.00'), fractions.Fraction(-2, 6), datetime.date(2020, 2, 29),\n"
        "                 datetime.datetime(2020, 1, 2, 3, fold=1, tzinfo=datetime.timezone(datetime.timedelta(hours=2), 'x')),\n"
        "                 datetime.timedelta(-1, 5), uuid.UUID(int=7), pathlib.Path('a/../b'), slice(1, None), ..., 1 << 90, -1 << 63]\n"
        "        return [Point(1.0, y=-0.0), Box([1]), Mode.B, Perm.READ | Perm.WRITE, Pair(1, [2]), deque, many,\n"
        "                collections.Counter('abca'), collections.OrderedDict(b=1, a=2), plain, 'x\\ud800y\\u00e9', Perm(4) if PERM_OPEN else Perm(0),\n"
        "                [float.fromhex('0x1p-1074'), struct.unpack('<d', bytes.fromhex('010000000000f8ff'))[0]], Mode.A_TOO, {Pair(1, 2), frozenset([3, 'a']), tuple([1.0, None])}, Point(Mode.A, [deque, deque])][number]\n",
        ("{r} = kinds({n16})", "{r} = [kinds({n16}), kinds({n16})]"),
    ),
    "arrays": Method(
        Q,
        False,
        "    def arrays(self, number):\n"
        "        base = np.arange(6.0)\n"
        "        still = base[1:3]\n"
        "        still.flags.writeable = False\n"
        "        table = np.zeros(2, [('x', '<f4'), ('at', '>i2', (2,)), ('name', '<U3')])\n"
        "        table['name'], table['at'][:, 1] = 'ab', 258\n"
        "        nan = np.frombuffer(bytes.fromhex('010000000000f87f0000000000000080'), '<f8').copy()\n"
        "        return [(base, base[1:], base[::-2], still), table, (table, table['at']), nan, nan[0], np.arange(3, dtype='>i4'),\n"
        "                np.array(['2020-01-01', 'NaT'], 'M8[D]'), np.eye(2, dtype='f4', order='F'), np.array(5), np.zeros((0, 3)),\n"
        "                np.float32(0.1), np.array([b'a\\0b', b''], 'S4'), np.longlong(3), np.array([1, 2], np.longlong), table[0],\n"
        "                np.datetime64('2020-01-01T00:00', 'ns'), (np.broadcast_to(base[:1], (3,)), base)][number]\n",
        ("{r} = arrays({n17})", "{r} = [arrays({n17}), arrays({n17})]"),
    ),
    "sets": Method(
        Q,
        False,
        "    def sets(self, number):\n"
        "        found = {'b', 'a', 'c', 1, 9, 2.5, None, tuple([1, 'z']), frozenset([2]), b'q'}\n"
        "        found.discard(number)\n"
        "        return found\n",
        ("{r} = sets({n17})", "order(*sets(1))", "{r} = sets(2); {r}.add('zz'); order(list({r}))"),
    ),
    "grow": Method(
        E,
        False,
        "    def grow(self, items, item=None):\n        items.append(item)\n        return items\n",
        ("{r} = grow({0}, {1})", "grow({0})", "{r} = grow(state['log'], {0})", "print(one(grow({0}), {0}))"),
    ),
    "scale": Method(
        E,
        False,
        "    def scale(self, array, factor=2.0):\n"
        "        if not isinstance(array, np.ndarray) or array.dtype.kind != 'f' or not array.flags.writeable:\n"
        "            raise TypeError('only a writeable array of floats can be scaled')\n"
        "        array *= factor\n"
        "        return array[:1]\n",
        ("{r} = scale({0})", "scale(state['a'], 3.0)", "scale(state['a'][1:3])", "{r} = scale(y[::2])"),
    ),
    "alter": Method(
        E,
        False,
        "    def alter(self, value, item=None): alter(value, item)\n",
        ("alter({0})", "alter({0}, {1})", "alter({0}, {0})", "alter(state[{key}])"),
    ),
    "alter_all": Method(
        E,
        False,
        "    def alter_all(self, *values):\n        for value in values: alter(value, len(values))\n        return values[-1]\n",
        ("{r} = alter_all({0}, {1})", "{r} = alter_all(state, {0})"),
    ),
    "keep": Method(
        E,
        False,
        "    def keep(self, name, value): self.s[name] = value\n",
        ("keep({key}, {0})", "keep('k', {0})", "keep('m', [{0}, {1}])"),
    ),
    "drop": Method(
        E, False, "    def drop(self, name): return self.s.pop(name)\n", ("{r} = drop({key})", "{r} = drop('k')", "{r} = [drop('m')]")
    ),
    "swap": Method(
        E,
        False,
        "    def swap(self, one, two): self.s[one], self.s[two] = self.s[two], self.s[one]\n",
        ("swap({key}, {key})", "swap('k', 'm')"),
    ),
    "link": Method(
        E,
        False,
        "    def link(self, name):\n        self.s['log'].append(self.s[name])\n        return len(self.s['log'])\n",
        ("print(link({key}))", "link('k')"),
    ),
    "bump": Method(
        E,
        False,
        "    def bump(self, name, amount=3):\n"
        "        alter(self.s[name], amount)\n"
        "        self.s.setdefault('count', []).append(amount)\n"
        "        return self.s[name]\n",
        ("{r} = bump({key})", "bump('a', 2)", "print(one(bump('k'), state['k']))"),
    ),
    "renew": Method(
        E,
        False,
        "    def renew(self, name):\n"
        "        old = self.s[name]\n"
        "        self.s[name] = old.copy() if hasattr(old, 'copy') else old\n"
        "        return old\n",
        ("{r} = renew({key})", "print(one(renew('a'), state['a']))"),
    ),
    "freeze": Method(
        E,
        False,
        "    def freeze(self, name, on=False): self.s[name].flags.writeable = on\n",
        ("freeze('b')", "freeze('b', True)", "freeze('k')"),
    ),
    "fail": Method(
        QE,
        False,
        "    def fail(self, kind, items=None):\n"
        "        if kind == 'toy': raise ToyError([1, items], code=7)\n"
        "        if kind == 'sub': raise SubError(items)\n"
        "        if kind == 'key': raise KeyError('missing', items)\n"
        "        if kind == 'file': raise FileNotFoundError(2, 'No such file', 'map.txt')\n"
        "        if kind == 'zero': return 1 // 0\n"
        "        error = ValueError(items, items)\n"
        "        error.add_note('first'), error.add_note('second')\n"
        "        error.items = items\n"
        "        if kind == 'none': raise error from None\n"
        "        raise error from ToyError(items, code=3)\n",
        ("fail('toy', {0})", "fail('sub', {0})", "fail('key', {0})", "fail('file')", "fail('zero')", "fail('none', {0})", "fail('from', {0})",
         "try:\n    fail('from', {0})\nexcept Exception as error:\n    {r} = caught(error)",
         "try:\n    fail('toy', {0})\nexcept (ToyError, ValueError) as error:\n    state['error'] = caught(error)\nfinally:\n    note('last')"),
    ),
    "again": Method(
        E,
        False,
        "    def again(self, name):\n"
        "        error = self.s[name]\n"
        "        raise error if isinstance(error, Exception) else KeyError(name)\n",
        ("again('error')", "try:\n    again('error')\nexcept Exception as error:\n    {r} = caught(error)\n    print(one({r}, state.get('error')))"),
    ),
    "rooted": Method(QE, False, "    def rooted(self): raise Root('undeclared')\n", ("rooted()",)),
    "foreign": Method(QE, False, "    def foreign(self): return iter([])\n", ("{r} = foreign()",)),
    "flaky": Method(
        E,
        False,
        "    def flaky(self, often):\n"
        "        self.tries += 1\n"
        "        if self.tries % (often + 1): raise ToyError(self.tries)\n"
        "        return self.tries\n",
        ("for attempt in range(4):\n    try:\n        {r} = flaky(2)\n        break\n    except ToyError as error:\n        print(attempt, error.detail)\n    finally:\n        note(attempt)",
         "while True:\n    try:\n        {r} = flaky(1)\n    except Exception as error:\n        {r} = caught(error)\n        continue\n    break"),
    ),
    "hold": Method(
        E,
        True,
        "    def hold(self, value): self.held_ = value if shares({shared}, value) else None\n",
        ("hold({0})", "hold(x)", "hold(y)", "hold(z)", "hold(z); z = None"),
    ),
    "held": Method(QE, False, "    def held(self): return self.held_\n", ("{r} = held()", "print(one(held(), held()), one(held(), {0}))", "{r} = [held(), {0}]")),
    "poke": Method(E, False, "    def poke(self, item=None): alter(self.held_, item)\n", ("poke({0})", "poke(); poke()", "poke({0}); {r} = held()" )),
    "bank": Method(
        E,
        True,
        "    def bank(self, value):\n"
        "        if shares({shared}, value): self.bank_.append(value)\n"
        "        return list(self.bank_)\n",
        ("{r} = bank({0})", "bank(x); {r} = bank(x)", "print([one(item, {0}) for item in bank({0})])"),
    ),
    "stir": Method(
        E,
        False,
        "    def stir(self):\n        for item in self.bank_: alter(item, len(self.bank_))\n",
        ("stir()",),
    ),
    "stash": Method(
        E,
        True,
        "    def stash(self, name):\n"
        "        value = self.s[name]\n"
        "        if shares({shared}, value): self.stash_ = self.s.pop(name)\n"
        "        return value\n",
        ("{r} = stash({key})", "stash({key}); unstash('k')", "stash('k'); note(0); unstash({key})"),
    ),
    "unstash": Method(E, False, "    def unstash(self, name): self.s[name] = self.stash_\n", ("unstash('k')", "unstash('m'); {r} = peek('m')")),
    "window": Method(
        QE,
        True,
        "    def window(self, start, stop):\n"
        "        part = self.big[start:stop]\n"
        "        return part if shares({shared}, part) and self.intact() else part.copy()\n",
        ("{r} = window(8, 11)", "{r} = window(2, 4)", "{r} = window(9, 10); {r}[0] = 5.0", "{r} = [window(8, 12), window(9, 11)]", "{r} = window(3, 5)"),
    ),
    "wave": Method(
        E,
        False,
        "    def wave(self, amount=1.0):\n        if self.intact(): self.big += amount\n        return float(self.big[9])\n",
        ("print(wave())", "wave(-0.5)", "wave(float('nan'))"),
    ),
    "step": Method(
        E,
        False,
        "    def step(self, seconds=0.25):\n"
        "        self.environment.now += seconds\n"
        "        if self.intact(): self.big[0] += seconds\n"
        "        if self.s is not None: self.s['t'] = self.environment.now\n"
        "        return self.environment.now\n",
        ("step()", "print(step(1.5), time.monotonic())", "step(0.5); print(time.time())"),
    ),
    "arm": Method(
        QE,
        False,
        "    def arm(self, name='left'):\n"
        "        if name not in self.arms_: self.arms_[name] = Arm(self, name)\n"
        "        return self.arms_[name]\n",
        ("h = arm()", "{r} = arm('right')", "print(arm() is arm(), arm() is h)", "h = None; h = arm()", "{r} = [arm(), arm('right'), arm()]"),
    ),
    "arms": Method(
        Q,
        False,
        "    def arms(self): return dict(self.arms_), set(self.arms_.values()), Box(list(self.arms_.values()))\n",
        ("{r} = arms()", "print(list(arms()[0].values()) == list(arms()[2].item))"),
    ),
    "whose": Method(
        Q,
        False,
        "    def whose(self, *arms): return [arm.name_ if isinstance(arm, Arm) else None for arm in arms]\n",
        ("print(whose(h, {0}))", "print(whose(*{r}) if isinstance({r}, list) else whose({r}))"),
    ),
}  # fmt: skip
HANDLE = """
class Leg:
    __slots__ = ("arm_",)
    def __init__(self, arm):
        self.arm_ = arm
    @api("query")
    def arm(self): return self.arm_

class Arm:
    __slots__ = ("api", "name_", "at", "leg_", "load")
    def __init__(self, api, name):
        self.api, self.name_, self.at, self.leg_, self.load = api, name, np.zeros(2), Leg(self), None
{methods}
"""
ARM = {
    "move": Method(E, False, "    def move(self, by=0.5):\n        self.at += by\n        return self.at.copy()\n", ("print(h.move())", "h.move(by=2)")),
    "name": Method(Q, False, "    def name(self): return self.name_\n", ("print(h.name())", "{r} = h.name()")),
    "twin": Method(Q, False, "    def twin(self, other=None): return self if other is None else other\n",
                   ("{r} = h.twin()", "print(h.twin() is h)", "{r} = h.twin({0})", "h = h.twin(h)")),
    "leg": Method(Q, False, "    def leg(self): return self.leg_\n", ("print(h.leg() is h.leg(), h.leg().arm() is h)", "{r} = h.leg()")),
    "carry": Method(E, True, "    def carry(self, value):\n        self.load = value if shares({shared}, value) else None\n        return self.load\n",
                    ("{r} = h.carry({0})", "h.carry(x)", "h.carry(y)")),
    "load": Method(Q, False, "    def carried(self): return self.load, self\n", ("{r} = h.carried()", "print(one(h.carried()[0], {0}), h.carried()[1] is h)")),
    "nudge": Method(E, False, "    def nudge(self, item=None): alter(self.load, item)\n", ("h.nudge({0})", "h.nudge()")),
}  # fmt: skip
STATES = (
    "None",
    "{'a': big[2:7], 'b': np.zeros((2, 2), np.float32), 'log': [environment.seed]}",
    "{'a': big[0:4], 'b': big[4:8], 'log': [], 'box': Box([1]), 'pair': Pair(1, [2]), 't': 0.0}",
    "{'a': np.arange(4.0), 'log': [1, [2]], 'error': ValueError('old', [1]), 'deep': {'l': collections.deque([[1]], 4), 's': {1, 2}}}",
    "{'a': big[1:9], 'b': big[3:6], 'log': [], 'all': [big[2:4], big[2:8:2]], 'point': Point(0.5), 'mode': Mode.B, 'point_set': {Pair(1, 2)}}",
    "{'a': raw.reshape(2, 2).T, 'b': raw[1:], 'log': collections.deque([1], 3), 'pairs': [Pair(1, 2), (3, [4])], 'count': [0]}",
)  # fmt: skip
BIG = (
    "np.arange(12.0)",
    "np.ndarray((12,), '<f8', bytearray(96))",
    "np.frombuffer(mmap.mmap(-1, 96), '<f8')",
    "np.ctypeslib.as_array((ctypes.c_double * 12)())",
    "np.ndarray((12,), '<f8', np.zeros(200, np.uint8).data, 16)",
)
SHARED = (
    "list",
    "dict",
    "set",
    "tuple",
    "np.ndarray",
    "Box",
    "collections.deque",
    "collections.defaultdict",
    "ToyError",
    "ValueError",
    "frozenset",
)
API_CLASS = """
class Api:
    def __init__(self, environment):
        self.environment = environment
        self.arms_, self.held_, self.bank_, self.stash_, self.tries = {{}}, None, [], None, 0
        big, raw = {big}, np.arange(4.0)
        self.big = big
        self.s = {state}
        found = (self.s or {{}}).values()
        self.lost, self.views = False, [item for item in (*found, *(self.s or {{}}).get("all", [])) if type(item) is np.ndarray]

    def intact(self):
        # whether all windows on `big` are in the public state, and have been at each call
        found = [*self.s.values()] if self.s else []
        found += next((item for item in found if type(item) is list and self.s.get("all") is item), [])
        self.lost = self.lost or not all(any(item is view for item in found) for view in self.views)
        return not self.lost

{methods}
"""


class Surface(NamedTuple):
    """A surface's text, and calls that programs may make to it."""

    text: str
    calls: tuple[str, ...]
    has_state: bool


@st.composite
def surfaces(draw: st.DrawFn) -> Surface:
    """Types, methods and declarations, drawn apart from each other."""
    random = Random(draw(st.integers(0, 1 << 32)))  # for declarations: a draw for each of them costs more than a run
    names = draw(st.lists(st.sampled_from(sorted(METHODS)), min_size=8, max_size=16, unique=True))
    state = draw(st.sampled_from(STATES))
    needs = {
        "poke": "hold",
        "held": "hold",
        "stir": "bank",
        "unstash": "stash",
        "arms": "arm",
        "whose": "arm",
        "again": "fail",
    }
    chosen = {name: METHODS[name] for name in [*names, *(needs[name] for name in names if name in needs)]}
    on_arm = (
        {name: ARM[name] for name in draw(st.lists(st.sampled_from(sorted(ARM)), min_size=2, unique=True))}
        if "arm" in chosen
        else {}
    )
    if "nudge" in on_arm or "load" in on_arm:
        on_arm["carry"] = ARM["carry"]
    shared = "'all'" if draw(st.integers(0, 5)) == 0 else _tuple(draw(st.lists(st.sampled_from(SHARED), unique=True)))
    types = ["Point", "Box", "Mode", "Perm", "Pair", *(["Arm", "Leg"] if on_arm else [])]
    dropped = draw(st.sampled_from([*types[:5], "", "", "", "", "", "", "", "", ""]))
    types = [name for name in types if name != dropped]
    handles = HANDLE.format(methods=_methods(random, on_arm, shared, [])) if on_arm else "class Arm: pass\n"
    methods = _methods(random, {**ALWAYS, **chosen}, shared, types)
    text = _types(random) + handles + API_CLASS.format(big=draw(st.sampled_from(BIG)), state=state, methods=methods)
    calls = [call for method in (*chosen.values(), *on_arm.values(), *ALWAYS.values()) for call in method.calls]
    return Surface(text, tuple(calls), state != "None")


def full_surface() -> str:
    """Every method at once, on declarations that use all there is."""
    shared = _tuple([*SHARED])
    owners = (ARM, {**ALWAYS, **METHODS})
    types = ("()", "(Point, Box, Mode, Perm, Pair, Arm, Leg)")
    parts = []
    for chosen, own in zip(owners, types, strict=True):
        texts = []
        for name, method in chosen.items():
            declared = "'all'" if name == "hold" else shared if method.keeps else "()"
            head = METHOD_HEAD.format(kind=method.kinds[0], raises=ERRORS, types=own, shared=declared)
            texts.append(head + method.text.replace("{shared}", declared))
        parts.append("\n".join(texts))
    state = (
        "{'a': big[1:9], 'b': np.zeros(2), 'log': [1], 'pair': Pair(1, [2]), 'error': ValueError('old', [1]), 't': 0.0}"
    )
    types_text = _types_text(
        True, True, True, False, False, "float, enum.Enum", "enum.IntFlag", True, False, True, False
    )
    return types_text + HANDLE.format(methods=parts[0]) + API_CLASS.format(big=BIG[2], state=state, methods=parts[1])


def _methods(random: Random, chosen: dict[str, Method], shared: str, types: list[str]) -> str:
    """Methods with their declarations; each type is declared by the first of them, and by others."""
    parts = []
    for number, method in enumerate(chosen.values()):
        own = types if number == 0 else random.sample(types, min(len(types), random.choice((0, 0, 1, 2))))
        declared = shared if method.keeps or random.random() < 0.1 else "()"
        raises = ERRORS if number == 0 or "raise" in method.text or random.random() < 0.9 else "()"
        head = METHOD_HEAD.format(kind=random.choice(method.kinds), raises=raises, types=_tuple(own), shared=declared)
        parts.append(head + method.text.replace("{shared}", declared))
    return "\n".join(parts)


def _types(random: Random) -> str:
    frozen, order, slots, box_slots, unsafe, named, compared, equal, keyword = (random.random() < 0.5 for _ in range(9))
    mode = random.choice(["enum.Enum", "enum.IntEnum", "float, enum.Enum", "str, enum.Enum", "enum.StrEnum"])
    perm = random.choice(["enum.Flag", "enum.IntFlag"])
    return _types_text(frozen, order, slots, box_slots, unsafe, mode, perm, named, compared, equal, keyword)


def _types_text(
    frozen: bool, order: bool, slots: bool, box_slots: bool, unsafe: bool, mode: str, perm: str, named: bool, compared: bool,
    equal: bool, keyword: bool,
) -> str:  # fmt: skip
    values = ("'one'", "'two'") if "str" in mode.lower() else ("1", "2")
    pair = (
        "class Pair(typing.NamedTuple):\n    first: object\n    second: object = None\n"
        if named
        else "Pair = collections.namedtuple('Pair', 'first second', defaults=(5,))\n"
    )
    return f"""@dataclasses.dataclass(frozen={frozen}, order={order}, slots={slots}, unsafe_hash={unsafe})
class Point:
    x: object
    y: object = 2.0
    z: list = dataclasses.field(default_factory=list, repr=False, compare={compared})

@dataclasses.dataclass(eq={equal}, slots={box_slots})
class Box:
    item: object = None
    name: str = dataclasses.field(default="box", kw_only={keyword})

class Mode({mode}):
    A = {values[0]}
    B = {values[1]}
    A_TOO = {values[0]}

class Perm({perm}):
    READ = 1
    WRITE = 2

PERM_OPEN = {perm == "enum.IntFlag"}
{pair}"""


def _tuple(names: list[str]) -> str:
    return "(" + "".join(f"{name}, " for name in names) + ")"
