"""A cloud answer raced against a confident edge answer that is already there (R4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hybridge.execution.outcome import Outcome


async def hedged(
    cloud: Awaitable[Outcome],
    edge: Callable[[], Awaitable[Outcome | None]],
    *,
    after_s: float,
) -> Outcome:
    """The cloud's outcome if it begins within `after_s` seconds, else whichever is there first.

    `edge` gives None when its answer is not confident enough; then the cloud is waited for. The
    loser is cancelled, which stops the work behind it.
    """
    asking = asyncio.ensure_future(cloud)
    try:
        await asyncio.wait({asking}, timeout=after_s)
        if asking.done():
            return asking.result()
        return await _first(asking, asyncio.ensure_future(edge()))
    finally:
        await _stop(asking)


async def _first(cloud: asyncio.Future[Outcome], edge: asyncio.Future[Outcome | None]) -> Outcome:
    try:
        both: set[asyncio.Future[Any]] = {cloud, edge}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not cloud.done() and edge.exception() is None and (taken := edge.result()) is not None:
            return taken
        return await cloud
    finally:
        await _stop(edge)


async def _stop(task: asyncio.Future[Outcome] | asyncio.Future[Outcome | None]) -> None:
    if task.cancel():
        await asyncio.wait({task})
