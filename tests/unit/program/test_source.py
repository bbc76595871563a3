"""Programs as files and texts: what is read, what is refused, and by which sentence."""

from __future__ import annotations

import warnings

import pytest

from surefoot.errors import InvalidProgramError, UsageError
from surefoot.program.source import Program

WALL_CLOCK = "datetime64 of 'now' or 'today' reads the wall clock, which a replay can't repeat; use time.time()."
OUTSIDE = "what it reaches is not on the tape; use the task's functions, or declare one with @api."
PROCESS = "starts a process, and what it does is not on the tape; use the task's functions."
TIMER = "interrupts the program at no point that a replay can repeat; count steps or read time.time()."


@pytest.fixture
def file(tmp_path):
    def written(data: bytes):
        path = tmp_path / "p.py"
        path.write_bytes(data)
        return path

    return written


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "{path} is empty. A program is Python text that calls the task's functions."),
        (b" \n\t\n", "{path} is empty. A program is Python text that calls the task's functions."),
        (b"x = '\xff'", "{path} is not UTF-8 text (byte 5). Save it as UTF-8."),
    ],
)
def test_a_file_that_is_no_program_is_refused(file, data, text):
    path = file(data)
    with pytest.raises(InvalidProgramError) as error:
        Program.read(path)
    assert str(error.value) == text.format(path=path)


def test_a_missing_file_and_a_folder_are_sentences(tmp_path):
    for path, text in (
        (tmp_path / "no.py", f"There is no program at {tmp_path / 'no.py'}. Check the path."),
        (tmp_path, f"The program {tmp_path} can't be read: Is a directory."),
    ):
        with pytest.raises(UsageError) as error:
            Program.read(path)
        assert str(error.value) == text


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfx = 1\n", b"x = 1\r\ny = '''a\r\nb'''\r\n", b"# coding: latin-1\nx = 1"]
)
def test_files_that_python_runs_are_programs(file, data):
    Program.read(file(data)).check()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = (", "p, line 1: not valid Python: '(' was never closed."),
        ("x = '\ud800'", "p: not valid Python: 'utf-8' codec can't encode character '\\ud800' in position 5: surrogates not allowed."),
        ("x\0", "p: not valid Python: source code string cannot contain null bytes."),
        ("(" * 500 + ")" * 500, "p, line 1: not valid Python: too many nested parentheses."),
        ("import os, subprocess", "p, line 1: it imports subprocess: what it reaches is not on the tape; "
                                  "use the task's functions, or declare one with @api."),
        ("\nfrom concurrent.futures import wait", "p, line 2: it imports concurrent.futures: threads and processes run in an "
                                              "order that a replay can't repeat; call the functions one after another."),
        ("import numpy as np\nnp.datetime64('now')", "p, line 2: datetime64 of 'now' or 'today' reads the wall clock, which a replay can't repeat; use time.time()."),
        ("from numpy import datetime64\ndatetime64('today')", "p, line 2: datetime64 of 'now' or 'today' reads the wall clock, which a replay can't repeat; use time.time()."),
        ("import nosuch.thing", "p, line 1: it imports nosuch.thing, which is neither Python's own nor NumPy nor SciPy. Add "
                                "--trusted (to run, record, replay or certify) if this is a script of your own: then it may import what is installed and what lies beside it."),
        ("import numpy as np\nnow = 'now'\nnp.array([now], dtype='datetime64[s]')", f"p, line 2: {WALL_CLOCK}"),
        ("import numpy as n\nd = n.datetime64\nd('Today')", f"p, line 3: {WALL_CLOCK}"),
        ("import numpy as np\nnp.array('now').astype('<M8[us]')", f"p, line 2: {WALL_CLOCK}"),
        *[(f"import numpy as np\n{text}", f"p, line 2: {WALL_CLOCK}") for text in (
            "np.datetime64(b'now')", "np.busday_offset('today', 0, 'forward')", "np.busdaycalendar(holidays=['today'])",
            "np.array('now', dtype='M')", "np.array([('now', 1)], dtype='i4, M8[s],i4')", "u = 's'; np.array('now', f'M8[{u}]')",
            "u = 's'; np.array('now', f'datetime64[{u}]')", "np.array('now', dtype=np.dtypes.DateTime64DType)",
            "np.array('now', dtype='|M8[s]')", "np.array('now', np.typecodes['Datetime'])",
        )],
        ("import importlib\nimportlib.import_module('socket')", f"p, line 2: it imports socket: {OUTSIDE}"),
        ("x = __import__('ctypes')", f"p, line 1: it imports ctypes: {OUTSIDE}"),
        ("import sqlite3", "p, line 1: it imports sqlite3: it has chance and clocks of its own, which a replay can't repeat; "
                           "use random and numpy.random."),
        ("import cProfile", "p, line 1: it imports cProfile: it measures the machine's time, which a replay can't repeat; "
                            "use time.perf_counter()."),
        ("from posix import urandom", "p, line 1: it imports posix: it goes round what surefoot closes, and a replay can't repeat "
                                      "what it finds; use Python's public modules."),
        ("import signal\nsignal.alarm(1)", f"p, line 2: signal.alarm {TIMER}"),
        ("from signal import setitimer", f"p, line 1: signal.setitimer {TIMER}"),
        ("import gc\ngc.callbacks.append(print)", "p, line 2: gc.callbacks runs when Python collects garbage, which a replay can't "
                                                  "repeat; do without."),
        ("import os\ngetattr(os, 'fork')()", f"p, line 2: os.fork {PROCESS}"),
        ("import os\nrun = os\nrun.system('ls')", f"p, line 3: os.system {PROCESS}"),
        ("import os\nos.fork()", "p, line 2: os.fork starts a process, and what it does is not on the tape; use the task's functions."),
        ("from os import system as s", "p, line 1: os.system starts a process, and what it does is not on the tape; use the task's functions."),
    ],
)  # fmt: skip
def test_what_a_tape_cannot_hold_is_refused_with_line_and_remedy(source, text):
    with pytest.raises(InvalidProgramError) as error:
        Program(source, "p").check()
    assert str(error.value) == text


@pytest.mark.parametrize(
    "source",
    ["import time; time.time()", "import datetime; datetime.timedelta(1)", "import os; os.getcwd()", "now = 1", "x.now()",
     "import numpy as np; np.datetime64('2020-01-01')", "print('now')", "import numpy as np; np.datetime64('now-ish'[:0])",
     "import numpy; rooms = {'now': 'M80', 'today': 'AM8'}", "import numpy; print('today', 'M or L')",
     "import datetime; datetime.datetime.now()", "from datetime import date as d; d.today()", "from math import *", "from . import x"],
)  # fmt: skip
def test_what_is_closed_at_run_time_is_not_refused(source):
    Program(source).check()


def test_reading_a_program_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Program("x = '\\d'; 1 is 1").check()


def test_lines_are_those_that_python_counts():
    program = Program("a = '\x0c\u2028'\r\nb = 2\rc = 3\n")
    assert [program.line(number) for number in range(6)] == ["", "a = '\x0c\u2028'", "b = 2", "c = 3", "", ""]


def test_identity_is_the_text_not_the_name():
    assert Program("x", "a") == Program("x", "b")
    assert Program("x").digest == Program("x", "b").digest != Program("x ").digest
    assert len({Program("x", "a"), Program("x", "b")}) == 1


def test_imports_are_named_absolutely_and_sorted():
    assert Program("import os.path as p, numpy\nfrom scipy import x\nfrom . import y").imports == (
        "numpy",
        "os.path",
        "scipy",
    )
