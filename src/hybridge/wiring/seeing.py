"""Views of prompts that came from elsewhere, as the gateway would have kept them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from hybridge.edge.encoder import Encoder
from hybridge.routing.facts import gather
from hybridge.routing.head import Head, read
from hybridge.routing.view import pack, view
from hybridge.settings import Settings
from hybridge.wiring import local
from hybridge.wiring.house import request_of
from hybridge.wiring.meaning import vectors
from hybridge.wiring.scoring import Scoring

AT_ONCE = 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""When comparisons were made that do not say so: all at once, so that none has faded."""
Seen = tuple[bytes, str]
"""A packed view, and the kind of task."""


def scoring_of(settings: Settings) -> Scoring:
    """The head and the adapter that settings name. Raises `ConfigError`."""
    return Scoring.of(settings, Head.shipped())


def seen(
    settings: Settings, head: Head, prompts: Sequence[str], done: Callable[[int], None]
) -> list[Seen]:
    """What the adapter sees of each prompt; blocking. `done` hears how many more are."""
    threads = local.thread_shares(settings).scorer
    encoder = Encoder.shipped(threads=threads)
    try:
        found = []
        for start in range(0, len(prompts), AT_ONCE):
            part = prompts[start : start + AT_ONCE]
            known = vectors(encoder, list(filter(None, part)), threads=threads)
            for prompt in part:
                said, vector = read(prompt), known.get(prompt)
                p = head.judge(said, vector).p
                packed = pack(view(head, said, vector, p))
                found.append((packed, gather(request_of(prompt)).task))
            done(len(part))
        return found
    finally:
        encoder.close()
