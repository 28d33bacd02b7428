"""What texts mean, told by the encoder in the background: nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hybridge.edge.encoder import Encoder
from hybridge.edge.threads import cores
from hybridge.routing.facts import Facts
from hybridge.routing.head import Vector
from hybridge.routing.scorer import HeadScorer
from hybridge.routing.view import pack

TIMEOUT_S = 5.0

_log = logging.getLogger("hybridge.encoder")


def views(scorer: HeadScorer) -> Callable[[Facts], Awaitable[bytes | None]]:
    """What the adapter sees of a request, packed; None where the encoder is too late."""

    async def seen(facts: Facts) -> bytes | None:
        found = await scorer.seen(facts, TIMEOUT_S)
        return None if found is None else pack(found)

    return seen


def vectors(encoder: Encoder, texts: Sequence[str], *, threads: int) -> dict[str, Vector]:
    """The embedding of each text, blocking: the very same that it gets alone.

    Several are computed at once, each on `threads` threads. In one batch they would be faster by
    some percent on a CPU, but a graph in dynamic INT8 would give a text a vector that depends on
    its neighbours.
    """
    different = list(dict.fromkeys(texts))
    with ThreadPoolExecutor(max(1, cores() // threads), thread_name_prefix="encoders") as pool:
        return dict(zip(different, pool.map(encoder.encode, different), strict=True))


class Meaning:
    """How alike two English texts are: the cosine of their vectors by all-MiniLM-L6-v2.

    The thresholds of the semantic cache, of shadow comparisons and of second opinions were measured
    with that encoder. It is loaded when the first two texts are compared, or by whoever cannot wait
    for that then: many gateways never do, and it takes 50 MB.
    """

    def __init__(self, load: Callable[[], Encoder]) -> None:
        """`load` blocks, and raises what ONNX Runtime does."""
        self._load = load
        self._loading: asyncio.Task[Encoder | None] | None = None

    async def similarity(self, one: str, other: str) -> float | None:
        """None for texts that the encoder cannot read, or where it is late or cannot be loaded."""
        if not (one.isascii() and other.isascii()):
            return None  # it takes Chinese for unknown tokens: any two texts would be alike
        encoder = await self._encoder()
        if encoder is None:
            return None
        a = await encoder.embed(one, TIMEOUT_S)
        b = await encoder.embed(other, TIMEOUT_S)
        return None if a is None or b is None else float(np.dot(a, b))

    async def ready(self) -> None:
        """Returns when the encoder is loaded, or cannot be."""
        await self._encoder()

    async def close(self) -> None:
        """Gives back what was loaded."""
        encoder = None if self._loading is None else await self._loading
        if encoder is not None:
            encoder.close()

    async def _encoder(self) -> Encoder | None:
        """Loaded once, whoever asks first, and whoever of them gives up."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._loaded())
        return await asyncio.shield(self._loading)

    async def _loaded(self) -> Encoder | None:
        try:
            return await asyncio.to_thread(self._load)
        except Exception:  # ONNX Runtime raises classes of its own
            _log.exception("the encoder that compares texts cannot be loaded")
            return None
