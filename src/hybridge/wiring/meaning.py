"""What texts mean, told by the encoder in the background: nobody waits for it."""

from __future__ import annotations

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


def views(scorer: HeadScorer) -> Callable[[Facts], Awaitable[bytes | None]]:
    """What the adapter sees of a request, packed; None where the encoder is too late."""

    async def seen(facts: Facts) -> bytes | None:
        found = await scorer.seen(facts, TIMEOUT_S)
        return None if found is None else pack(found)

    return seen


def vectors(encoder: Encoder, texts: Sequence[str], *, threads: int) -> dict[str, Vector]:
    """The embedding of each text, blocking: the very same that it gets alone.

    Several are computed at once, each on `threads` threads. In one batch they would be faster by
    some percent, but an INT8 graph that scales its numbers by all that is in a batch gives a text a
    vector that depends on its neighbours (cosine .994 on average).
    """
    different = list(dict.fromkeys(texts))
    with ThreadPoolExecutor(max(1, cores() // threads), thread_name_prefix="encoders") as pool:
        return dict(zip(different, pool.map(encoder.encode, different), strict=True))


def similarity(encoder: Encoder) -> Callable[[str, str], Awaitable[float | None]]:
    """Cosine of two texts' embeddings; None for texts that the encoder cannot read."""

    async def alike(one: str, other: str) -> float | None:
        if not (one.isascii() and other.isascii()):
            return None  # it takes Chinese for unknown tokens: any two texts would be alike
        a = await encoder.embed(one, TIMEOUT_S)
        b = await encoder.embed(other, TIMEOUT_S)
        return None if a is None or b is None else float(np.dot(a, b))

    return alike
