"""What the records hold to learn from, for commands that do not serve."""

from __future__ import annotations

import asyncio
import logging

from hybridge.core.errors import ConfigError
from hybridge.gateway.adapting import MOST
from hybridge.learning.evidence import Evidence
from hybridge.routing.adaptation import Adaptation
from hybridge.storage.comparisons import evidence_at

WAIT_S = 5.0
_log = logging.getLogger("hybridge.adapter")


def account(known: Adaptation) -> str:
    """Where learning about one pair stands, and the accuracy of the edge by task (R24)."""
    pair = known.pair
    name = "any pair" if pair is None else f"{pair.edge} and {pair.cloud}"
    tasks = ", ".join(
        f"{task} {100 * seen.accuracy:.0f} % of {seen.seen:.0f}"
        for task, seen in sorted(known.tasks.items(), key=lambda item: -item[1].seen)
    )
    return f"{name}: {known.said()}" + (f"; good enough: {tasks}" if tasks else "")


async def recorded(address: str) -> list[Evidence]:
    """Oldest first; nothing where there is nothing, or no database answers in time."""
    try:
        async with asyncio.timeout(WAIT_S):
            return (await evidence_at(address, MOST))[::-1]
    except (ConfigError, TimeoutError) as error:
        _log.info("nothing is learned from the records: %s", error)
        return []
