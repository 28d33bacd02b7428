"""The same question of the same tenant, for a while, and nobody else's (R32, R62)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridge.cache.answers import NO_KEY
from hybridge.cache.config import CacheConfig
from hybridge.cache.exact import ExactCache
from hybridge.core.request import Clearance, Message, Request, Tier, Wish
from hybridge.core.response import Completion, Token
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

ANSWER = Completion(b'{"choices":[]}', text="4", tokens=(Token("4", -0.1),), model="local")


def request(text: str = "2 + 2?", **body: Any) -> Request:
    turns = [{"role": "user", "content": text}]
    return Request(
        id="1",
        model="auto",
        messages=(Message("user", text),),
        body={"model": "auto", "messages": turns, **body},
        tenant="a",
    )


def cache(
    ttl_s: float = 300.0, max_entries: int = 10, clock: ManualClock | None = None
) -> ExactCache:
    config = CacheConfig(ttl_s=ttl_s, max_entries=max_entries)
    return ExactCache(config, clock or ManualClock())


async def test_an_answer_is_found_again_without_its_probabilities() -> None:
    kept = cache()
    kept.put(kept.key(request()), ANSWER)
    assert await kept.get(kept.key(request())) == replace(ANSWER, tokens=())


@pytest.mark.parametrize(
    "other",
    [
        replace(request(), tenant="b"),
        replace(request(), wish=Wish(tier=Tier.EDGE)),
        replace(request(), model="local"),
        request("2 + 3?"),
        request(temperature=0.5),
        request(seed=7),
        request(max_tokens=5),
        request(n=2),
        request(tools=[{"type": "function", "function": {"name": "add"}}]),
        request(response_format={"type": "json_object"}),
        request(some_new_parameter=True),
        request(user="u-1"),
        request(safety_identifier="u-1"),
        replace(request(), session="s"),
        replace(request(), messages=(Message("system", "Shout."), *request().messages)),
        replace(request(), messages=(Message("user", "Hi"), *request().messages)),
    ],
)
def test_what_shapes_the_answer_or_its_owner_separates(other: Request) -> None:
    kept = cache()
    assert kept.key(other) != kept.key(request())


@pytest.mark.parametrize(
    "other",
    [
        request(stream=True, stream_options={"include_usage": True}),
        request(metadata={"trace": "9"}),
        replace(request(), id="2", received_s=9.0),
    ],
)
def test_how_it_travels_does_not_separate(other: Request) -> None:
    kept = cache()
    assert kept.key(other) == kept.key(request())


def keys(scope: str, one: Request, other: Request) -> tuple[str, str]:
    config = CacheConfig.model_validate({"scope": scope})
    kept = ExactCache(config, ManualClock(), named=lambda asked: asked.session == "mine")
    return kept.key(one), kept.key(other)


TENANT = replace(request(), tenant="b")
PERSON = request(user="u-1")
SESSION = replace(request(), session="mine")


@pytest.mark.parametrize(
    ("scope", "other", "shared"),
    [
        ("caller", TENANT, False),
        ("caller", PERSON, False),
        ("caller", SESSION, False),
        ("key", TENANT, False),
        ("key", PERSON, True),
        ("key", SESSION, True),
        ("all", TENANT, True),
        ("all", PERSON, True),
        ("all", SESSION, True),
        ("all", request("2 + 3?"), False),
    ],
)
def test_the_scope_says_who_shares(scope: str, other: Request, *, shared: bool) -> None:
    one, another = keys(scope, request(), other)
    assert (one == another) == shared


def test_a_session_that_nobody_named_does_not_separate() -> None:
    one, other = keys("caller", request(), replace(request(), session="made of the opening"))
    assert one == other


def test_the_order_of_members_does_not_matter() -> None:
    kept = cache()
    turned = dict(reversed(request(seed=1).body.items()))
    assert kept.key(replace(request(), body=turned)) == kept.key(request(seed=1))


async def test_what_may_not_leave_the_device_is_not_remembered() -> None:
    kept = cache()
    key = kept.key(replace(request(), clearance=Clearance.DEVICE_ONLY))
    kept.put(key, ANSWER)
    assert key == NO_KEY
    assert await kept.get(key) is None
    assert len(kept) == 0


async def test_an_old_answer_is_forgotten() -> None:
    clock = ManualClock()
    kept = cache(ttl_s=300, clock=clock)
    kept.put("k", ANSWER)
    clock.advance(299.0)
    assert await kept.get("k") is not None
    clock.advance(1.0)
    assert await kept.get("k") is None
    assert len(kept) == 0


async def test_without_a_lifetime_nothing_is_kept() -> None:
    kept = cache(ttl_s=0)
    kept.put("k", ANSWER)
    assert await kept.get("k") is None


async def test_the_least_recently_used_goes_first() -> None:
    kept = cache(max_entries=2)
    kept.put("a", ANSWER)
    kept.put("b", ANSWER)
    await kept.get("a")
    kept.put("c", ANSWER)
    assert await kept.get("b") is None
    assert await kept.get("a") is not None
    assert await kept.get("c") is not None


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans())), st.integers(1, 4))
async def test_it_never_grows_beyond_its_bound(steps: list[tuple[str, bool]], bound: int) -> None:
    kept = cache(max_entries=bound)
    for key, is_put in steps:
        if is_put:
            kept.put(key, ANSWER)
            assert await kept.get(key) is not None
        else:
            await kept.get(key)
        assert len(kept) <= bound


texts = st.text(max_size=20)


@given(texts, texts, texts, texts)
def test_two_tenants_never_share_a_key(a: str, b: str, one: str, other: str) -> None:
    kept = cache()
    first = replace(request(one), tenant=a)
    second = replace(request(other), tenant=b)
    assert (kept.key(first) == kept.key(second)) == ((a, one) == (b, other))
