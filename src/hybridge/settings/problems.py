"""What is wrong with a configuration, all of it at once, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybridge.core.errors import ConfigError

Loc = tuple[str | int, ...]
"""Where a key is: names of mappings and indices of lists, from the top."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    place: str
    """File, line and column, or the environment variable."""
    loc: Loc
    what: str
    """What is wrong and what would be right."""

    def __str__(self) -> str:
        key = dotted(self.loc)
        return f"{self.place}: {key}: {self.what}" if key else f"{self.place}: {self.what}"


class Refused(ConfigError):
    """A `ConfigError` that still knows its problems one by one."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Each problem is told once, on a line of its own."""
        self.problems = tuple({str(problem): problem for problem in problems}.values())
        super().__init__("\n".join(map(str, self.problems)))


def refuse(problems: Sequence[Problem]) -> None:
    """Raises one `Refused` that holds every problem, if there is any."""
    if problems:
        raise Refused(problems)


def dotted(loc: Loc) -> str:
    """A key as people write it: `cloud.backends[0].model`."""
    said = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return said.removeprefix(".")
