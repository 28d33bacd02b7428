"""What one stream is to do: the prompt says it, so that client and upstream need no other word."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from random import Random


class End(StrEnum):
    """How an upstream ends its stream."""

    WELL = "well"
    RESET = "reset"
    """The connection is reset."""
    CLOSED = "closed"
    """It is closed in order, but the answer has no end."""
    ERROR = "error"
    """An error object comes in place of a chunk."""


@dataclass(frozen=True, slots=True)
class Script:
    """One stream."""

    chunks: int
    """How many the whole answer has."""
    every_s: float
    """Between two chunks."""
    end: End = End.WELL
    after: int = 0
    """Chunks before the upstream breaks."""
    hang_up_after: int | None = None
    """Chunks after which the client hangs up."""

    def prompt(self) -> str:
        """As the client writes it."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, prompt: str) -> Script:
        """As the upstream reads it."""
        said = json.loads(prompt)
        return cls(**said | {"end": End(said["end"])})


def scripts(count: int, seconds: float, *, breaking: float, leaving: float) -> list[Script]:
    """So many streams of a chunk a second, shares of which break, and are left."""
    random, chunks = Random(1), max(2, round(seconds))
    made = []
    for number in range(count):
        kind = number / count
        if kind < breaking:
            end = (End.RESET, End.CLOSED, End.ERROR)[number % 3]
            made.append(Script(chunks, 1.0, end, random.randrange(1, chunks)))
        elif kind < breaking + leaving:
            made.append(Script(chunks, 1.0, hang_up_after=random.randrange(1, chunks)))
        else:
            made.append(Script(chunks, 1.0))
    random.shuffle(made)
    return made
