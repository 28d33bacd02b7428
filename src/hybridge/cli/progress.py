"""Progress on standard error; silent where that is not a terminal, but for one line a step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

Advance = Callable[[int, int | None], None]
"""Called with what is done so far and the total, where it is known."""


@contextmanager
def downloading(what: str) -> Iterator[Advance]:
    """A bar in bytes for one download; it appears with the first byte."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, visible=False)
        begun = False

        def advance(done: int, total: int | None) -> None:
            nonlocal begun
            if not begun and not console.is_terminal:
                size = f" ({total / 1e6:.0f} MB)" if total else ""
                print(f"{what}{size} ...", file=sys.stderr, flush=True)
            begun = True
            bar.update(task, completed=done, total=total, visible=True)

        yield advance


@contextmanager
def counting(what: str, total: int | None) -> Iterator[Callable[..., None]]:
    """A bar that counts items; call what it gives once an item is done, or with how many are."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done=1: bar.update(task, advance=done)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A sign that something is at work whose end cannot be foreseen."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
