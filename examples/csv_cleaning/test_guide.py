"""docs/pi-pipeline.md, run as it stands: what snippets print, and excerpts that are the example's."""

import itertools
import re
import textwrap
from pathlib import Path

from clean import story

HERE = Path(__file__).parent
GUIDE = (HERE.parents[1] / "docs" / "pi-pipeline.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL)


def test_snippets_print_what_the_guide_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "snippet"}
    run = 0
    for (language, code), (following, shown) in itertools.pairwise(BLOCKS):
        if (language, following) == ("python", "text"):
            exec(code, names)
            assert capsys.readouterr().out == shown
            run += 1
    assert run == sum(language == "text" for language, _ in BLOCKS) == 4


def test_excerpts_are_the_example_s():
    """Blocks of Python without output beside them stand in the example's files as they are."""
    texts = [path.read_text() for path in HERE.glob("*.py")]
    excerpts = [
        code
        for (language, code), (following, _) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True)
        if language == "python" and following != "text"
    ]
    assert len(excerpts) == 3
    for code in excerpts:
        assert any(code in text or textwrap.indent(code, "    ") in text for text in texts), code


def test_the_example_tells_the_story_of_the_guide(tmp_path):
    (shown,) = [code for language, code in BLOCKS if language == "console"]
    command, _, lines = shown.partition("\n")
    assert command == "$ python examples/csv_cleaning/clean.py"
    assert lines == "".join(line + "\n" for line in story(tmp_path))
