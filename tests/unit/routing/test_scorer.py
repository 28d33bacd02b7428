"""The scorer around the head: deadline, absence, languages, history (R2)."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridge.core.request import Message, Request
from hybridge.routing.facts import gather
from hybridge.routing.head import DIMENSIONS, Head
from hybridge.routing.scorer import HeadScorer

pytestmark = pytest.mark.anyio

HEAD = Head.shipped()
TOPIC = np.full(DIMENSIONS, DIMENSIONS**-0.5, np.float32)


class FixedEncoder:
    """Answers with one vector, or is always late; remembers what it was asked."""

    def __init__(self, answer: NDArray[np.float32] | None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, float]] = []

    async def embed(self, text: str, timeout_s: float) -> NDArray[np.float32] | None:
        self.asked.append((text, timeout_s))
        return self.answer


def request(*texts: str) -> Request:
    roles = ("user", "assistant")
    turns = tuple(Message(roles[i % 2], text) for i, text in enumerate(texts))
    return Request("r1", "auto", turns, {})


async def test_the_full_head_speaks_when_the_encoder_answers() -> None:
    encoder = FixedEncoder(TOPIC)
    score = await HeadScorer(HEAD, encoder, timeout_s=0.02).score(gather(request("Why is it so?")))
    assert (score.source, score.version) == ("prior", HEAD.version)
    assert score.p == HEAD.predict("Why is it so?", TOPIC).p
    assert [text for text, _ in encoder.asked] == ["Why is it so?"]
    assert 0 < encoder.asked[0][1] <= 0.015  # a quarter is kept for what follows
    assert score.took_ms > 0


@pytest.mark.parametrize("encoder", [None, FixedEncoder(None)], ids=["absent", "late"])
async def test_the_text_head_speaks_when_it_does_not(encoder: FixedEncoder | None) -> None:
    score = await HeadScorer(HEAD, encoder, timeout_s=0.02).score(gather(request("Why is it so?")))
    assert score.source == "prior-text"
    assert score.p == HEAD.predict("Why is it so?", None).p
    assert score.reasons


async def test_the_encoder_is_not_asked_what_it_cannot_read() -> None:
    encoder = FixedEncoder(TOPIC)
    score = await HeadScorer(HEAD, encoder, timeout_s=0.02).score(gather(request("为什么是这样？")))
    assert score.source == "prior-text"
    assert not encoder.asked


async def test_a_conversation_adds_length_and_only_so_much() -> None:
    scorer, ask = HeadScorer(HEAD, None, timeout_s=0.02), "And how many are there?"
    alone = await scorer.score(gather(request(ask)))
    after, long_after, longer_after = [
        await scorer.score(gather(request("tell me " * n, "yes", ask))) for n in (50, 5000, 20000)
    ]
    assert alone.p < after.p < long_after.p
    assert long_after.p == longer_after.p


async def test_a_system_text_alone_is_no_history() -> None:
    scorer, ask = HeadScorer(HEAD, None, timeout_s=0.02), "And how many are there?"
    framed = Request(
        "r1", "auto", (Message("system", "Be brief. " * 500), Message("user", ask)), {}
    )
    assert (await scorer.score(gather(framed))).p == (await scorer.score(gather(request(ask)))).p


class SlowEncoder:
    """Promises to keep its deadline, and does not; remembers what became of the work."""

    def __init__(self, takes_s: float) -> None:
        self.takes_s = takes_s
        self.allowed_s: float | None = None
        self.stopped = False

    async def embed(self, text: str, timeout_s: float) -> NDArray[np.float32] | None:
        self.allowed_s = timeout_s
        try:
            await asyncio.sleep(self.takes_s)
        except asyncio.CancelledError:
            self.stopped = True
            raise
        return TOPIC


async def test_the_deadline_holds_for_the_whole_score() -> None:
    encoder, text = SlowEncoder(60), "Why is it so? " * 200
    started_s = time.perf_counter()
    score = await HeadScorer(HEAD, encoder, timeout_s=0.05).score(gather(request(text)))
    await asyncio.sleep(0)
    assert time.perf_counter() - started_s < 5
    assert encoder.stopped
    assert encoder.allowed_s is not None
    assert encoder.allowed_s < 0.05  # what was spent before it was asked is taken off
    assert (score.source, score.p) == ("prior-text", HEAD.predict(text, None).p)


async def test_no_time_at_all_is_enough_for_the_text() -> None:
    score = await HeadScorer(HEAD, SlowEncoder(60), timeout_s=0.0).score(gather(request("Why?")))
    assert score.source == "prior-text"


async def test_the_text_is_read_while_the_encoder_works() -> None:
    """An encoder that needs less time than is left is waited for."""
    encoder = SlowEncoder(0.01)
    score = await HeadScorer(HEAD, encoder, timeout_s=30).score(gather(request("Why is it so?")))
    assert (score.source, encoder.stopped) == ("prior", False)


async def test_what_an_encoder_raises_is_raised() -> None:
    class Broken:
        async def embed(self, text: str, timeout_s: float) -> NDArray[np.float32] | None:
            raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        await HeadScorer(HEAD, Broken(), timeout_s=1).score(gather(request("Why?")))


async def test_a_caller_who_leaves_stops_the_encoder() -> None:
    encoder = SlowEncoder(60)
    scoring = asyncio.create_task(
        HeadScorer(HEAD, encoder, timeout_s=30).score(gather(request("Why is it so?")))
    )
    while encoder.allowed_s is None:
        await asyncio.sleep(0)
    scoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scoring
    await asyncio.sleep(0)
    assert encoder.stopped
