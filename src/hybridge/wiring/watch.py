"""Notices that files have changed, whoever changes them in whatever way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from hashlib import sha256
from pathlib import Path

LOOK_S = 5.0
"""How often the files are looked at where the system tells nothing: some file systems are mute."""
POLL_S = 1.0
"""The same where the system can tell nothing at all."""
QUIET_S = 0.4
"""How long files must stay the same to count as written: one save is often many steps."""
LONGEST_S = 10.0
"""Files that never come to rest are read after that time as they are."""

Print = dict[Path, str | None]
Notices = Callable[[Sequence[Path]], AsyncGenerator[object, None]]
"""Yields when some of the files may have changed; may raise where nothing can be told."""
_log = logging.getLogger("hybridge.reload")


async def changes(
    paths: Callable[[], Sequence[Path]], seen: Print, notices: Notices | None = None
) -> AsyncGenerator[None, None]:
    """Yields each time the files differ from what was `seen` and have come to rest.

    `paths` is asked anew each time, for one of the files may name the others; a file that is new
    among them counts as seen. `notices` are the system's unless given.
    """
    notices = notices or _notices
    while True:
        watched = tuple(paths())
        seen = await fingerprint(watched) | {path: seen[path] for path in watched if path in seen}
        async with aclosing(_ticks(watched, notices)) as ticks:
            async for _ in ticks:
                if await fingerprint(watched) != seen:
                    seen = await _at_rest(watched)
                    yield
                if tuple(paths()) != watched:
                    break


async def fingerprint(paths: Iterable[Path]) -> Print:
    """The files' contents in short; None for one that cannot be read."""
    return await asyncio.to_thread(lambda: {path: _digest(path) for path in paths})


async def _at_rest(paths: Sequence[Path]) -> Print:
    """The fingerprint once it has stayed the same for a while."""
    now = await fingerprint(paths)
    for _ in range(round(LONGEST_S / QUIET_S)):
        before = now
        await asyncio.sleep(QUIET_S)
        now = await fingerprint(paths)
        if now == before:
            break
    return now


async def _ticks(paths: Sequence[Path], notices: Notices) -> AsyncGenerator[None, None]:
    """At once, then whenever a look may be worth it."""
    yield
    try:
        async with aclosing(notices(paths)) as told:
            async for _ in told:
                yield
    except (OSError, RuntimeError) as error:  # no inotify, or no more of it
        _log.warning("this system tells of no changes (%s); looking every %s s", error, POLL_S)
    while True:
        await asyncio.sleep(POLL_S)
        yield


async def _notices(paths: Sequence[Path]) -> AsyncGenerator[object, None]:
    """What the system tells, and every `LOOK_S` all the same.

    Folders are watched, not files: editors put a new file in the old one's place, and Kubernetes
    turns a link in the folder (its names begin with two dots).
    """
    from watchfiles import awatch

    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it counts changes, loudly
    homes = [path.absolute() for path in paths] + [path.resolve() for path in paths]
    names = {path.name for path in homes}
    folders = {path.parent for path in homes if path.parent.is_dir()}
    told = awatch(
        *folders,
        watch_filter=lambda _, path: (name := Path(path).name) in names or name[:2] == "..",
        rust_timeout=round(1000 * LOOK_S),
        yield_on_timeout=True,
        recursive=False,
    )
    async with aclosing(told):
        async for files in told:
            yield files


def _digest(path: Path) -> str | None:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
