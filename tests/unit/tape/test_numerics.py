"""Which tapes hold on a machine with other numerics."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from surefoot.boundary.environment import Environment, Scene
from surefoot.boundary.surface import Surface, api
from surefoot.program.source import Program
from surefoot.tape.certificate import Certified, Unavailable
from surefoot.tape.recording import Origin, execute
from surefoot.tape.replay import certify


class Till:
    """Answers plain numbers, and one array."""

    @api("query")
    def price(self, item: str) -> float:
        """A float."""
        return 2.5

    @api("query")
    def prices(self) -> np.ndarray:
        """An array."""
        return np.array([2.5])


class Counter(Environment):
    """A till and nothing else."""

    api = Till()
    clock = 0.0
    steps = 0

    def reset(self, seed):
        return Scene(seed, "till", {})

    def succeeded(self):
        return True

    def telemetry(self):
        return {}

    def sleep(self, seconds):
        raise NotImplementedError

    def state_digest(self):
        return ""


PLAIN = "import json\nimport re\ntotal = price('tea') * 3 / 7\nprint(json.dumps(total), round(total, 2))\n"
GUARDED = "if 'price' not in globals():\n    from tills import price\n" + PLAIN


@pytest.fixture
def elsewhere(zygote):
    """The certificate of a program on a tape as if that had been made on a machine with other numerics."""

    def replayed(recorded, edited, **other):
        surface = Surface.of(Till)
        tape = execute(Program(recorded), Counter(), Origin("till", "state", "1", surface, "r"), 0, zygote).tape
        other = other or {
            "blas": "another kernel",
            "cpu": "other features",
            "numpy": "1.0",
            "scipy": "1.0",
            "libm": "another",
        }
        header = msgspec.structs.replace(tape.header, platform=tape.header.platform | other)
        return certify(Program(edited), msgspec.structs.replace(tape, header=header), zygote)

    return replayed


@pytest.mark.parametrize("program", [PLAIN, GUARDED])
def test_programs_without_numerics_are_certified_whatever_the_machine_s_numerics(elsewhere, program):
    assert isinstance(elsewhere(PLAIN, program), Certified)
    assert isinstance(elsewhere(program, PLAIN), Certified)


@pytest.mark.parametrize(
    "addition",
    [
        "import numpy", "import math", "from scipy import linalg", "price('tea') ** 0.5", "pow(2.0, 0.5)", "x = 2.0\nx **= 0.5",
        "__import__('math')", "eval('1')", "import sys\nsys.modules", "1j", "complex(1)", "x = globals()",
        "if 'other' not in globals():\n    import math", "if 'price' not in globals():\n    pass\nelse:\n    import math",
        "import fractions\nfractions.math.exp(0.1)", "from fractions import math as m", "getattr(2.0, '__p' + 'ow__')(0.5)",
        "(0.5).__rpow__(2.0)", "locals()", "__builtins__.pow", "import dataclasses\ndataclasses.inspect", "from typing import operator as o",
        "from enum import bltns", "import random", "import no_such_module_of_mine",
    ],
)  # fmt: skip
def test_what_may_use_numerics_makes_the_tape_unavailable_elsewhere(elsewhere, addition):
    for programs in ((PLAIN, PLAIN + addition), (PLAIN + addition, PLAIN)):
        if "no_such" not in programs[0]:
            certificate = elsewhere(*programs)
            assert isinstance(certificate, Unavailable)
            assert certificate.reason == "numeric platform"


def test_an_array_on_the_tape_may_use_numerics(elsewhere):
    certificate = elsewhere("prices()\n", "prices()\n")
    assert isinstance(certificate, Unavailable)
    assert certificate.reason == "numeric platform"


def test_another_machine_or_python_counts_in_any_case(elsewhere):
    certificate = elsewhere(PLAIN, PLAIN, machine="sparc")
    assert isinstance(certificate, Unavailable)
    assert certificate.detail.startswith("machine (sparc then, ")
