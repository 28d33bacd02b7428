"""Tables of items with known answers, as text files, and the questions they make.

A file has sections `[name]`. In a section a line that starts with `?` is a wording with `{0}`,
`{1}` … for the cells of a row; one that starts with `!` holds options as `key=value`; one that
starts with `#` is a comment; any other holds rows divided by `;`, their cells divided by `|`, and
the accepted spellings in a cell by `/`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import TypeVar

from msgspec import Struct

Row = tuple[str, ...]
Item = TypeVar("Item")


class Section(Struct, frozen=True):
    """One named part of a table."""

    rows: tuple[Row, ...]
    wordings: tuple[str, ...]
    """How it can be asked; about two thirds end with the item."""
    options: dict[str, str]


@cache
def table(name: str) -> dict[str, Section]:
    """The sections of `rows/NAME.txt`, by their names."""
    text = files(__package__).joinpath("rows", f"{name}.txt").read_text("utf-8")
    parts = text.split("\n[")[1:] if not text.startswith("[") else ("\n" + text).split("\n[")[1:]
    return {head: _section(body) for head, _, body in (part.partition("]") for part in parts)}


def spread(
    rng: random.Random, items: Iterable[Item], wordings: tuple[str, ...], times: int
) -> Iterator[tuple[Item, str]]:
    """Each item with so many different wordings, line breaks in place of `\\n`."""
    for item in items:
        for wording in rng.sample(wordings, min(times, len(wordings))):
            yield item, wording.replace("\\n", "\n")


def spellings(cell: str) -> tuple[str, ...]:
    """The accepted spellings in a cell."""
    return tuple(one.strip() for one in cell.split("/"))


def _section(body: str) -> Section:
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    marked = ("?", "!", "#")
    plain = [row for line in lines if not line.startswith(marked) for row in line.split(";")]
    return Section(
        rows=tuple(tuple(c.strip() for c in row.split("|")) for row in plain if row.strip()),
        wordings=tuple(line[1:].strip() for line in lines if line.startswith("?")),
        options=dict(
            part.split("=", 1)
            for line in lines
            if line.startswith("!")
            for part in line[1:].strip().split()
        ),
    )
