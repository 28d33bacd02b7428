"""The scorer around the head: deadline, absence, languages, history (R2)."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from hybridge.core.request import Message, Request
from hybridge.learning.evidence import Evidence, Pair
from hybridge.routing.adaptation import Adaptation, adapt
from hybridge.routing.facts import gather
from hybridge.routing.head import DIMENSIONS, Head, read
from hybridge.routing.scorer import HeadScorer
from hybridge.routing.view import pack, view

pytestmark = pytest.mark.anyio

HEAD = Head.shipped()
NOW = datetime(2030, 1, 2, tzinfo=UTC)
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


async def test_the_encoder_reads_chinese_as_well() -> None:
    encoder = FixedEncoder(TOPIC)
    score = await HeadScorer(HEAD, encoder, timeout_s=0.02).score(gather(request("为什么是这样？")))
    assert score.source == "prior"
    assert [text for text, _ in encoder.asked] == ["为什么是这样？"]


async def test_the_encoder_is_not_asked_of_nothing() -> None:
    encoder = FixedEncoder(TOPIC)
    scorer = HeadScorer(HEAD, encoder, timeout_s=0.02)
    assert (await scorer.score(gather(request("")))).source == "prior-text"
    assert await scorer.seen(gather(request("")), 1) is not None
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


PAIR = Pair("local", "v1", "gpt")


def learned(head: str, *, failed: float) -> Adaptation:
    """Of a pair whose edge always, or never, fails; its views are of ordinary prompts."""
    found = [
        Evidence(PAIR, NOW, "qa", failed, 1.0, 0.5, pack(seen_of(n)), head, f"r{n}")
        for n in range(40)
    ]
    return adapt(PAIR, found, NOW, head=head, half_life=timedelta(days=30))


def seen_of(n: int) -> NDArray[np.float32]:
    text = f"Why is it number {n}, and what are {n * 7} {'small ' * n}things?"
    said = read(text)
    return view(HEAD, said, TOPIC, HEAD.judge(said, TOPIC).p)


@pytest.mark.parametrize("failed", [0.0, 1.0])
async def test_the_adapter_of_a_pair_moves_its_scores_and_says_so(failed: float) -> None:
    known = learned(HEAD.version, failed=failed)
    scorer = HeadScorer(
        HEAD, FixedEncoder(TOPIC), timeout_s=9, adapted=lambda pair: known if pair == PAIR else None
    )
    facts = gather(request("Why is it so, and what are the other things?"))
    prior, moved = await scorer.score(facts), await scorer.score(facts, PAIR)
    assert (prior.source, prior.version) == ("prior", HEAD.version)
    assert (moved.source, moved.version) == ("adapter", f"{HEAD.version}+{known.version}")
    assert moved.p > prior.p if failed else moved.p < prior.p
    direction = "harder" if failed else "easier"
    assert any(reason.startswith(f"{direction}: by 40 comparisons") for reason in moved.reasons)
    assert moved.reasons[: len(prior.reasons)] == prior.reasons


async def test_an_adapter_of_another_head_is_not_heard() -> None:
    known = learned("prior-other", failed=1.0)
    facts = gather(request("Why is it so?"))
    heard = HeadScorer(HEAD, None, timeout_s=0.02, adapted=lambda _: known)
    assert (await heard.score(facts)).p == (
        await HeadScorer(HEAD, None, timeout_s=0.02).score(facts)
    ).p


async def test_a_task_that_the_edge_is_bad_at_scores_higher_without_an_adapter() -> None:
    found = [Evidence(PAIR, NOW, "qa", 1.0, 1.0, 0.3, request_id=f"r{n}") for n in range(60)]
    found += [Evidence(PAIR, NOW, "chat", 0.0, 1.0, 0.3, request_id=f"s{n}") for n in range(60)]
    known = adapt(PAIR, found, NOW, head=HEAD.version, half_life=timedelta(days=30))
    scorer = HeadScorer(HEAD, None, timeout_s=0.02, adapted=lambda _: known)
    facts = gather(request("Why is it so?"))
    assert facts.task == "qa"
    moved, prior = await scorer.score(facts, PAIR), HEAD.predict(facts.text, None)
    assert moved.source == "prior-text"
    assert moved.p > prior.p
    assert moved.reasons[-1].startswith("harder: of 60 edge answers to qa tasks")


async def test_a_text_that_was_encoded_already_is_scored_the_same() -> None:
    scorer = HeadScorer(HEAD, FixedEncoder(TOPIC), timeout_s=9)
    facts = gather(request("Why is it so?"))
    assert scorer.score_read(facts, None, TOPIC).p == (await scorer.score(facts)).p


async def test_a_view_is_not_kept_without_the_embedding_it_should_have() -> None:
    facts, chinese = gather(request("Why is it so?")), gather(request("为什么是这样？"))
    assert await HeadScorer(HEAD, FixedEncoder(None), timeout_s=1).seen(facts, 1.0) is None
    for scorer in (
        HeadScorer(HEAD, FixedEncoder(TOPIC), timeout_s=1),
        HeadScorer(HEAD, None, timeout_s=1),
    ):
        assert await scorer.seen(facts, 1.0) is not None
        assert await scorer.seen(chinese, 1.0) is not None
