"""Embeddings over HTTP, against a real server on loopback."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import numpy as np
import pytest

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.embeddings import OpenAIEmbedder
from hybridge.cloud.transport import Transport
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.embedding import Embedded, EmbedderSpec, EmbeddingCall
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.request import Tier
from hybridge.core.response import Usage
from hybridge.testing.embedding import embedder_spec, embedding_request, embeds, vector_of
from hybridge.testing.replies import Reply, answers, fails, hangs, raw
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
SPEC: EmbedderSpec = embedder_spec("far", Tier.CLOUD)
KEY = "sk-upstream-0123456789"


@asynccontextmanager
async def reaching(
    *replies: Reply, batch: int = 2048, dimensions: int | None = None
) -> AsyncIterator[tuple[OpenAIEmbedder, Upstream]]:
    async with Upstream(*replies) as upstream:
        transport = Transport(upstream.base_url, TimeoutsConfig(), key=KEY, proxy=None)
        async with transport:
            embedder = OpenAIEmbedder(
                SPEC, transport, batch=batch, dimensions=dimensions, redact=Redactor([KEY])
            )
            yield embedder, upstream


def call(*inputs: Any, within_s: float = 10.0, **more: Any) -> EmbeddingCall:
    request = embedding_request(*inputs, **more)
    return EmbeddingCall(request, Deadline.after(within_s, SystemClock()))


def rows(*vectors: Any, **members: Any) -> Reply:
    data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
    return answers({"object": "list", "data": data, "model": "m"} | members)


async def failure(*replies: Reply, asked: EmbeddingCall | None = None, **more: Any) -> BackendError:
    async with reaching(*replies, **more) as (embedder, _):
        with pytest.raises(BackendError) as raised:
            await embedder.embed(asked or call("one", "two"))
    assert raised.value.backend == "far"
    return raised.value


async def test_the_body_goes_out_as_it_came_under_the_upstreams_model_name():
    async with reaching(embeds()) as (embedder, upstream):
        await embedder.embed(call("one", "二", model="far", user="u", input_type="query"))
    (sent,) = upstream.posts
    assert sent.target == "/v1/embeddings"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.json == {
        "model": "far-model",
        "input": ["one", "二"],
        "user": "u",
        "input_type": "query",
    }


async def test_base64_is_asked_for_where_the_caller_did_and_means_the_same_numbers():
    async with reaching(embeds()) as (embedder, upstream):
        plain = await embedder.embed(call("one", "two", encoding_format="float"))
        packed = await embedder.embed(call("one", "two", encoding_format="base64"))
    assert np.array_equal(plain.vectors, packed.vectors)
    assert np.array_equal(plain.vectors[1], vector_of("two"))
    assert [post.json.get("encoding_format") for post in upstream.posts] == [None, "base64"]


async def test_a_server_that_knows_no_base64_may_answer_in_numbers():
    async with reaching(embeds(form="float")) as (embedder, _):
        embedded = await embedder.embed(call("one", encoding_format="base64"))
    assert np.array_equal(embedded.vectors[0], vector_of("one"))


async def test_a_server_that_refuses_base64_is_asked_without_and_not_again_with_it():
    async with reaching(fails(422, "unknown field"), embeds()) as (embedder, upstream):
        first = await embedder.embed(call("one", encoding_format="base64"))
        second = await embedder.embed(call("one", encoding_format="base64"))
    assert np.array_equal(first.vectors, second.vectors)
    asked = [post.json.get("encoding_format") for post in upstream.posts]
    assert asked == ["base64", None, None]


async def test_what_is_wrong_with_the_request_itself_is_not_blamed_on_base64():
    refusing = fails(400, "bad input", type="invalid_request_error")
    async with reaching(refusing, refusing, embeds()) as (embedder, upstream):
        with pytest.raises(BackendError, match="bad input"):
            await embedder.embed(call("one", encoding_format="base64"))
        await embedder.embed(call("one", encoding_format="base64"))
    assert upstream.posts[-1].json["encoding_format"] == "base64"


async def test_rows_are_put_in_the_order_of_the_inputs():
    async with reaching(embeds(order="reversed"), batch=3) as (embedder, upstream):
        embedded = await embedder.embed(call(*"abcdefgh"))
    assert np.array_equal(embedded.vectors, np.stack([vector_of(one) for one in "abcdefgh"]))
    assert [post.json["input"] for post in upstream.posts] == [
        ["a", "b", "c"],
        ["d", "e", "f"],
        ["g", "h"],
    ]
    assert embedded.usage == Usage(8, 0)


async def test_rows_without_an_index_are_in_order_already():
    bare = answers({"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}]})
    async with reaching(bare) as (embedder, _):
        embedded = await embedder.embed(call("one", "two"))
    assert embedded == Embedded(embedded.vectors, "far-model", None)
    assert embedded.vectors.tolist() == [[1.0, 0.0], [0.0, 1.0]]


async def test_token_ids_pass():
    async with reaching(embeds()) as (embedder, upstream):
        embedded = await embedder.embed(call([1, 2, 3], [4]))
    assert upstream.posts[0].json["input"] == [[1, 2, 3], [4]]
    assert np.array_equal(embedded.vectors[1], vector_of([4]))


async def test_the_callers_dimensions_come_before_the_configured_ones():
    async with reaching(embeds(), dimensions=4) as (embedder, upstream):
        usual = await embedder.embed(call("one"))
        asked = await embedder.embed(call("one", dimensions=6))
    assert [post.json["dimensions"] for post in upstream.posts] == [4, 6]
    assert (usual.vectors.shape, asked.vectors.shape) == ((1, 4), (1, 6))


async def test_dimensions_that_an_upstream_passes_over_are_an_error():
    error = await failure(embeds(obeys=False), asked=call("one", dimensions=4))
    assert "gave 8 dimensions where 4 were asked for" in str(error)
    assert (error.fault, error.body["param"]) == (Fault.UNABLE, "dimensions")


NUMBER = base64.b64encode(np.ones(2, "<f4").tobytes()).decode()


@pytest.mark.parametrize(
    "reply",
    [
        raw(b"<html>", 200, {"content-type": "text/html"}),
        answers({"object": "list"}),
        answers([]),
        rows([1.0]),
        rows([1.0], [1.0], [1.0]),
        rows([1.0], [1.0, 2.0]),
        rows([], []),
        rows([1.0], ["x"]),
        rows([1.0], None),
        rows([1.0], "no base64!"),
        rows([1.0], NUMBER[:-3]),
        rows([1.0], base64.b64encode(np.array([np.nan], "<f4").tobytes()).decode()),
        answers({"data": [{"index": 0, "embedding": [1.0]}] * 2}),
        answers({"data": [{"index": i, "embedding": [1.0]} for i in (0, 2)]}),
        answers({"data": [{"index": i, "embedding": [1.0]} for i in (0, -1)]}),
    ],
)
async def test_what_is_not_one_vector_for_each_input_is_no_answer(reply):
    assert (await failure(reply)).fault is Fault.PROTOCOL


async def test_an_error_in_the_place_of_an_answer_is_an_error():
    error = await failure(answers({"error": {"message": f"bad key {KEY}", "code": 401}}))
    assert error.fault is Fault.CREDENTIALS
    assert KEY not in str(error)


@pytest.mark.parametrize(
    ("status", "fault"), [(400, Fault.CALLER), (401, Fault.CREDENTIALS), (500, Fault.SERVER)]
)
async def test_a_refusal_is_classified_by_its_status(status, fault):
    told = fails(status, "no", type="invalid_request_error" if status == 400 else "server_error")
    error = await failure(told)
    assert (error.fault, error.status) == (fault, status)


async def test_retry_after_is_kept():
    error = await failure(fails(429, headers={"retry-after": "7"}))
    assert error.retry_after_s == 7


async def test_a_silent_server_is_too_slow():
    error = await failure(hangs(), asked=call("one", within_s=0.2))
    assert error.fault is Fault.TIMEOUT


async def test_a_large_answer_is_read_whole():
    inputs = [f"text {i}" for i in range(300)]
    async with reaching(embeds(usage=False)) as (embedder, _):
        embedded = await embedder.embed(call(*inputs))
    assert embedded.usage is None
    assert np.array_equal(embedded.vectors[299], vector_of("text 299"))


def test_numbers_are_read_as_the_float32_that_they_were():
    told = msgspec.json.encode(vector_of("x").tolist())
    assert np.array_equal(np.array(msgspec.json.decode(told), np.float32), vector_of("x"))
