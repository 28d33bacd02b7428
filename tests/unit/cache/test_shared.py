"""Answers in a store that others can reach: found by those with the secret, and nothing else (R62)."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.cache.test_exact import ANSWER, request

from hybridge.cache.answers import NO_KEY
from hybridge.cache.config import CacheConfig
from hybridge.cache.identity import Identity
from hybridge.cache.shared import PREFIX, SharedCache
from hybridge.core.request import Clearance
from hybridge.core.response import Completion, Usage

pytestmark = pytest.mark.anyio

SECRET = b"a secret of thirty-two bytes....."
VERSIONS = {"local": "small\n1"}


class Shelf:
    """A store that never fails, and what it was asked."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.ttls: list[float] = []
        self.asked = 0

    async def get(self, key: str) -> bytes | None:
        self.asked += 1
        return self.values.get(key)

    def put(self, key: str, value: bytes, ttl_s: float) -> None:
        self.asked += 1
        self.values[key] = value
        self.ttls.append(ttl_s)


def shared(shelf: Shelf, secret: bytes = SECRET, *, heard=lambda *_: None, **config) -> SharedCache:
    return SharedCache(CacheConfig.model_validate(config), shelf, secret, VERSIONS.get, heard=heard)


async def test_another_replica_with_the_same_secret_finds_it():
    shelf = Shelf()
    one, other = shared(shelf, ttl_s=60), shared(shelf)
    one.put(one.key(request()), ANSWER)
    assert await other.get(other.key(request())) == replace(ANSWER, tokens=())
    assert shelf.ttls == [60]


async def test_one_with_another_secret_finds_nothing():
    shelf = Shelf()
    one, other = shared(shelf), shared(shelf, b"another secret")
    one.put(one.key(request()), ANSWER)
    assert one.key(request()) != other.key(request())
    assert await other.get(one.key(request())) is None


def test_without_the_secret_nobody_can_test_a_guess():
    shelf = Shelf()
    cache = shared(shelf)
    cache.put(cache.key(request()), ANSWER)
    (key,) = shelf.values
    plain = Identity().digest(request())
    assert key.startswith(PREFIX)
    assert plain not in key
    assert hashlib.sha256(plain.encode()).hexdigest() not in key


@pytest.mark.parametrize("clearance", [c for c in Clearance if c is not Clearance.ANYWHERE])
async def test_nothing_of_a_private_request_reaches_the_store(clearance):
    shelf = Shelf()
    cache = shared(shelf)
    key = cache.key(replace(request(), clearance=clearance))
    cache.put(key, ANSWER)
    assert (key, await cache.get(key), shelf.asked) == (NO_KEY, None, 0)


@given(st.integers(0), st.integers(1, 255))
async def test_what_was_changed_is_not_given(position, change):
    shelf, heard = Shelf(), []
    cache = shared(shelf, heard=lambda *told: heard.append(told))
    key = cache.key(request())
    cache.put(key, ANSWER)
    value = bytearray(shelf.values[key])
    value[position % len(value)] ^= change
    shelf.values[key] = bytes(value)
    assert await cache.get(key) is None
    assert heard == [("get", "unreadable")]


@given(st.binary(max_size=200))
async def test_whatever_lies_there_is_a_miss_at_worst(value):
    shelf = Shelf()
    cache = shared(shelf)
    shelf.values[cache.key(request())] = value
    assert await cache.get(cache.key(request())) is None


async def test_answers_that_changed_places_are_not_given():
    shelf = Shelf()
    cache = shared(shelf)
    one, other = cache.key(request("one")), cache.key(request("other"))
    cache.put(one, ANSWER)
    shelf.values[other] = shelf.values[one]
    assert await cache.get(other) is None


async def test_a_form_that_this_version_does_not_know_is_a_miss():
    shelf = Shelf()
    cache = shared(shelf)
    key, other = cache.key(request()), b"\x93\x01\x02\x03"
    shelf.values[key] = cache._seal(key, other) + other
    assert await cache.get(key) is None


@pytest.mark.parametrize("now", [{}, {"local": "small\n2"}, {"local": "large\n1"}])
async def test_the_answers_of_another_model_are_not_given(now):
    shelf = Shelf()
    before = shared(shelf)
    before.put(before.key(request()), ANSWER)
    after = SharedCache(CacheConfig(), shelf, SECRET, now.get)
    assert await after.get(after.key(request())) is None


def test_nothing_is_kept_without_a_lifetime_or_of_a_backend_that_is_gone():
    shelf = Shelf()
    shared(shelf, ttl_s=0).put("k", ANSWER)
    shared(shelf).put("k", replace(ANSWER, model="gone"))
    assert not shelf.values


@given(
    st.builds(
        Completion,
        wire=st.binary(max_size=50),
        text=st.text(st.characters(codec="utf-8"), max_size=50),
        finish_reason=st.none() | st.just("stop"),
        usage=st.none() | st.builds(Usage, st.integers(0, 2**40), st.integers(0, 2**40)),
        model=st.just("local"),
        has_tool_calls=st.booleans(),
    )
)
async def test_an_answer_comes_back_as_it_was(answer):
    cache = shared(Shelf())
    cache.put(cache.key(request()), answer)
    assert await cache.get(cache.key(request())) == answer
