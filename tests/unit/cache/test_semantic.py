"""An answer for the same question in other words, and for nothing else (R62)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from hybridge.cache.config import CacheConfig
from hybridge.cache.exact import ExactCache
from hybridge.cache.semantic import SemanticCache, Similarity
from hybridge.core.request import Clearance, Feature, Message, Request, Tier, Wish
from hybridge.core.response import Completion
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

ANSWER = Completion(b'{"choices":[]}', text="Paris", model="local")
ASKED = "What is the capital of France?"
AGAIN = "Can you tell me what the capital of France is?"


def request(text: str = ASKED, *before: tuple[str, str], **body: Any) -> Request:
    turns = [*before, ("user", text)]
    return Request(
        id="1",
        model="auto",
        messages=tuple(Message(role, said) for role, said in turns),
        body={
            "model": "auto",
            "messages": [{"role": role, "content": said} for role, said in turns],
            **body,
        },
        tenant="a",
    )


def caches(
    similarity: Similarity | None = None, clock: ManualClock | None = None, **config: Any
) -> tuple[ExactCache, SemanticCache]:
    settings = CacheConfig.model_validate({"semantic": {"similarity_min": 0.8}} | config)
    exact = ExactCache(settings, clock or ManualClock())
    return exact, SemanticCache(exact, settings, similarity)


def answer(kept: tuple[ExactCache, SemanticCache], asked: Request) -> None:
    exact, semantic = kept
    exact.put(exact.key(asked), ANSWER)
    semantic.note(asked)


async def found(asked: Request, again: Request, **config: Any) -> bool:
    kept = caches(**config)
    answer(kept, asked)
    return await kept[1].find(again) is not None


async def test_other_words_find_the_answer() -> None:
    assert await found(request(), request(AGAIN))
    assert await found(request("法国的首都是哪里？"), request("请问法国首都是哪里"))


@pytest.mark.parametrize(
    "other",
    [
        replace(request(AGAIN), tenant="b"),
        replace(request(AGAIN), session="s"),
        replace(request(AGAIN), model="local"),
        replace(request(AGAIN), wish=Wish(tier=Tier.EDGE)),
        request(AGAIN, ("system", "Answer in French.")),
        request(AGAIN, ("user", "Hi"), ("assistant", "Hello!")),
        request(AGAIN, user="u-1"),
        request(AGAIN, temperature=0.5),
        request(AGAIN, seed=7),
        request(AGAIN, max_tokens=5),
        request(AGAIN, n=2),
        request(AGAIN, some_new_parameter=True),
    ],
)
async def test_all_the_rest_must_be_identical(other: Request) -> None:
    assert not await found(request(), other)


async def test_the_same_last_words_after_another_history() -> None:
    cats = [("user", "Do cats purr?"), ("assistant", "Yes.")]
    dogs = [("user", "Do dogs purr?"), ("assistant", "No.")]
    assert not await found(request("And why is that?", *cats), request("and why is that?", *dogs))
    assert await found(request("And why is that?", *cats), request("and why is that?", *cats))


@pytest.mark.parametrize("feature", [Feature.TOOLS, Feature.JSON, Feature.JSON_SCHEMA])
async def test_where_every_letter_counts_only_the_very_same_request_does(feature: Feature) -> None:
    able = frozenset({feature})
    asked, again = (replace(request(text), features=able) for text in (ASKED, AGAIN))
    assert not await found(asked, again)


async def test_private_requests_are_neither_noted_nor_found() -> None:
    private = Clearance.DEVICE_ONLY
    assert not await found(request(), replace(request(AGAIN), clearance=private))
    assert not await found(replace(request(), clearance=private), request(AGAIN))


async def test_a_turn_of_several_parts_is_not_read() -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": AGAIN}]}]
    assert not await found(request(), request(AGAIN, messages=parts))


async def test_shared_by_configuration_only() -> None:
    other = replace(request(AGAIN), tenant="b", session="s")
    assert not await found(request(), other, scope="key")
    assert await found(request(), other, scope="all")


@pytest.mark.parametrize(
    ("alike", "hit"), [(0.95, True), (0.8, True), (0.79, False), (None, False)]
)
async def test_the_encoder_has_a_say_in_english(alike: float | None, *, hit: bool) -> None:
    async def similarity(_one: str, _other: str) -> float | None:
        return alike

    assert await found(request(), request(AGAIN), similarity=similarity) == hit


async def test_what_the_encoder_cannot_read_is_decided_by_the_wording() -> None:
    async def english_only(one: str, _other: str) -> float | None:
        return 1.0 if one.isascii() else None

    chinese = request("法国的首都是哪里？"), request("请问法国首都是哪里")
    assert await found(*chinese, similarity=english_only)


async def test_a_slow_encoder_costs_the_hit_and_not_the_request() -> None:
    async def never(_one: str, _other: str) -> float | None:
        await asyncio.sleep(60)
        return 1.0

    async with asyncio.timeout(5):
        assert not await found(request(), request(AGAIN), similarity=never)


async def test_the_encoder_is_not_asked_in_vain() -> None:
    """A miss costs the same, whatever others have asked."""

    async def similarity(_one: str, _other: str) -> float | None:
        raise AssertionError("there is nothing to compare")

    kept = caches(similarity)
    answer(kept, replace(request(), tenant="b"))
    answer(kept, request("How do I turn on dark mode?"))
    assert await kept[1].find(request("How do I turn off dark mode?")) is None
    assert await kept[1].find(request(AGAIN)) is None


async def test_it_forgets_with_the_answer_and_never_grows_beyond_its_bound() -> None:
    clock = ManualClock()
    kept = caches(clock=clock, ttl_s=300, max_entries=3)
    for number in range(20):
        answer(kept, request(f"What is {number} + 1?"))
    assert await kept[1].find(request("Calculate 19 + 1")) is not None
    assert await kept[1].find(request("Calculate 1 + 1")) is None
    clock.advance(300)
    assert await kept[1].find(request("Calculate 19 + 1")) is None
