"""`surefoot export`: a tape as a file for viewers."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Annotated

import typer

from surefoot.cli.arguments import AsJson
from surefoot.cli.console import print_json, say
from surefoot.errors import UsageError
from surefoot.report.viewer import write_view
from surefoot.tape.file import Tape, load_tape


def export(
    tape: Annotated[Path, typer.Argument(metavar="TAPE", help="A tape made by 'run --tape' or 'record'.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.mcap", help="The file to write; never over another.")],
    as_json: AsJson = False,
) -> None:
    """Write what TAPE holds as an MCAP file that viewers such as Foxglove and Lichtblick show.

    Calls come as a log, telemetry as numbers to plot, observables that are poses as poses, and images in
    answers as images; docs/tape.md lists the topics. A truncated tape is written as far as it goes. OUT.mcap
    is for looking at: only TAPE can be replayed.
    """
    loaded = load_tape(tape)
    try:
        with out.open("xb") as stream:
            counts = _written(loaded, stream, out)
    except FileExistsError:
        what = "folder" if out.is_dir() else "file"
        raise UsageError(f"There is already a {what} at {out}. Nothing is ever overwritten; name another.") from None
    except OSError as error:
        raise UsageError(f"{out} can't be written: {error.strerror}. Name another place.") from None
    if as_json:
        print_json({"tape": loaded.id or None, "truncated": loaded.truncated, "file": str(out), "messages": counts})
        return
    for topic, count in sorted(counts.items()):
        say(f"{count:6}  {topic}")
    say(f"{out} holds {sum(counts.values())} messages. Open it in a viewer that reads MCAP.")


def _written(tape: Tape, stream: IO[bytes], place: Path) -> dict[str, int]:
    """Write the view; what could not be written whole is removed."""
    try:
        counts = write_view(tape, stream)
        stream.flush()
        return counts
    except BaseException:  # an interrupt as well: half a file would pass for a whole one
        place.unlink(missing_ok=True)
        raise
