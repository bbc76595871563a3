"""Random programs and random edits of them: on the toy by line, on the desk by line of a demonstration."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pytest

QUERIES = [
    "echo(1)",
    "echo(2)",
    "print(echo([1, 2]))",
    "v = peek('a')",
    "v = part('a')",
    "v = echo(np.array([0.5, 2.0]))",
    "same(state['a'], state['a'])",
    "try: peek('none')\nexcept KeyError: pass",
]
EFFECTS = [
    "bump('a')",
    "bump('b', 0.5)",
    "bump('a', float(v[0]) + 1.0)",
    "grow(state['log'], 3)",
    "grow([1], float(v[1]))",
    "step()",
    "time.sleep(0.5)",
    "keep('k', [1, [2]])",
    "scale(v)",
    "try: fail('toy', state['log'])\nexcept ToyError: pass",
]
OWN = [
    "state['x'] = 3",
    "state['log'].append(9)",
    "state['c'] = state['a'][1:]",
    "v = np.ones(2)",
    "print(time.time())",
]
HEAD = "import time\nimport numpy as np\nv = np.zeros(2)\n"
ENDING = "state['done'] = True\nstep()\n"
OTHER_ENDINGS = ["step()\n", "state['done'] = True\n", ENDING + "1 / 0\n", ENDING + "echo(1)\n", "while True: step()\n"]


def _statement(random: Random) -> str:
    return random.choice(random.choices([QUERIES, EFFECTS, OWN], (6, 3, 1))[0])


def _edited(random: Random, statements: list[str], another: Callable[[], str]) -> list[str]:
    """One to three edits: a statement dropped, doubled, swapped with the next, put in, or with another number."""
    lines = list(statements)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(lines) - 1)
        kind = random.choice(["drop", "double", "swap", "insert", "insert", "number"])
        if kind == "drop" and len(lines) > 2:
            del lines[place]
        elif kind == "double":
            lines.insert(place, lines[place])
        elif kind == "swap":
            lines[place : place + 2] = reversed(lines[place : place + 2])
        elif kind == "insert":
            lines.insert(place, another())
        else:
            lines[place] = re.sub(r"\d\.\d+", lambda found: f"{float(found[0]) + 0.25}", lines[place], count=1)
    return lines


@pytest.fixture(scope="session")
def toy_pairs() -> Callable[[int], list[tuple[str, str]]]:
    """So many programs for the toy, each with an edited one."""

    def make(count: int) -> list[tuple[str, str]]:
        random = Random(f"toy pairs {count}")
        pairs = []
        for _ in range(count):
            statements = [_statement(random) for _ in range(random.randint(3, 12))]
            edited = _edited(random, statements, lambda: _statement(random))
            ending = random.choice(OTHER_ENDINGS) if random.random() < 0.2 else ENDING
            pairs.append((HEAD + "\n".join(statements) + "\n" + ENDING, HEAD + "\n".join(edited) + "\n" + ending))
        return pairs

    return make


DESK_CALLS = [
    'locate("item")',
    'describe("item")',
    'locate("bin")',
    "get_hand()",
    'recall("item")',
    "list_objects()",
    "release()",
]


@pytest.fixture(scope="session")
def desk_edits(naive) -> Callable[[int], list[str]]:
    """So many edited texts of the naive program of desk/place."""
    head, *body = re.split(r"^(?=    [a-z])", naive.source, flags=re.MULTILINE)

    def make(count: int) -> list[str]:
        random = Random(f"desk edits {count}")
        another = lambda: f"    {random.choice(DESK_CALLS)}\n"  # noqa: E731
        return [head + "".join(_edited(random, body, another)) for _ in range(count)]

    return make
