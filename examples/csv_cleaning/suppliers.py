"""What suppliers send: a file of orders a day, each in the supplier's own way, and a delivery note with its totals."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path

FORMATS = {  # what each supplier's contract says about its files
    "alder": {"parse": "utf-8 ;", "dates": "d.m.y", "numbers": "1.234,50", "duplicates": "last"},
    "birch": {"parse": "latin-1 ;", "dates": "y.m.d", "numbers": "1,234.50", "duplicates": "first"},
    "cedar": {"parse": "utf-8 tab", "dates": "m.d.y", "numbers": "123450", "duplicates": "all"},
    # a newcomer, of whose ways each is known from another supplier
    "dogwood": {"parse": "latin-1 ;", "dates": "d.m.y", "numbers": "123450", "duplicates": "last"},
}
DELIMITERS = {";": ";", "tab": "\t"}
DATES = {"d.m.y": "{d:02}.{m:02}.{y}", "m.d.y": "{m:02}.{d:02}.{y}", "y.m.d": "{y}.{m:02}.{d:02}"}
CUSTOMERS = ("Müller", "Čapek", "Smith", "Renée", "Jones", "Ångström")
LATIN = ("Müller", "Smith", "Renée", "Jones", "Ångström")
ORDERS = 60
CORRECTED = 0.3


def written(cents: int, style: str) -> str:
    """An amount as a supplier writes it."""
    if style == "123450":
        return str(cents)
    thousands, decimal = style[1], style[5]
    return f"{Decimal(cents) / 100:,.2f}".translate({ord(","): thousands, ord("."): decimal})


def send(folder: Path, supplier: str, day: int) -> str:
    """Write the file of a day and its delivery note; gives their name, `alder-07`."""
    name = f"{supplier}-{day:02}"
    chance = random.Random(name)
    style = FORMATS[supplier]
    encoding, delimiter = style["parse"].split()
    entries = []
    for number in range(ORDERS):
        when = {"y": 2026, "m": chance.randrange(1, 13), "d": chance.randrange(1, 29)}
        customer = chance.choice(LATIN if encoding == "latin-1" else CUSTOMERS)
        entry = (f"{day:02}{number:04}", when, customer, chance.randrange(1_000, 500_000))
        entries.append(entry)
        if chance.random() < CORRECTED:
            entries.append((*entry[:3], chance.randrange(1_000, 500_000)))
    lines = [
        DELIMITERS[delimiter].join([order, DATES[style["dates"]].format(**when), who, written(cents, style["numbers"])])
        for order, when, who, cents in entries
    ]
    (folder / f"{name}.csv").write_bytes(("\n".join(lines) + "\n").encode(encoding))
    (folder / f"{name}.note.json").write_text(json.dumps(_note(entries, style["duplicates"])))
    return name


def _note(entries: list[tuple], kept: str) -> dict[str, object]:
    """How many orders there are, their sum, and the first and the last date, as the supplier counts them."""
    if kept == "last":
        entries = list({entry[0]: entry for entry in entries}.values())
    elif kept == "first":
        entries = [
            entry for place, entry in enumerate(entries) if entry[0] not in {each[0] for each in entries[:place]}
        ]
    dates = sorted("{y}-{m:02}-{d:02}".format(**when) for _, when, _, _ in entries)
    return {"orders": len(entries), "cents": sum(entry[3] for entry in entries), "from": dates[0], "to": dates[-1]}
