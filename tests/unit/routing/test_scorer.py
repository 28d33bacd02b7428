"""The scorer around the head: deadline, absence, languages, history (R2)."""

from __future__ import annotations

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
    assert encoder.asked == [("Why is it so?", 0.02)]
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
