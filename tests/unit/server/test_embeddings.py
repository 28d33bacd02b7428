"""`POST /v1/embeddings` on a real listener, also as the official SDK asks for it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.clock import SystemClock
from hybridge.core.embedding import Embedder
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.request import Tier
from hybridge.gateway.embedding import EmbeddingGateway
from hybridge.server.app import App
from hybridge.server.config import ServerConfig
from hybridge.server.drain import Drain
from hybridge.server.embeddings import MOST_INPUTS, PATH, Embeddings, write
from hybridge.server.intake import Intake
from hybridge.server.routes import Place, Routes
from hybridge.server.serve import Listener
from hybridge.server.terms import Terms
from hybridge.testing.backend import Hang
from hybridge.testing.embedding import (
    ScriptedEmbedder,
    embedder_spec,
    embedding_gateway,
    embedding_request,
    vector_of,
)
from hybridge.testing.http import Got, ask, sent

pytestmark = pytest.mark.anyio


@dataclass
class Door:
    """A listener with nothing but this path, and what is behind it."""

    listener: Listener
    embedder: Embedder

    async def ask(self, body: Any, **headers: str) -> Got:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await ask(self.listener.port, PATH, body, headers=named)


def door_of(gateway: EmbeddingGateway, keys: dict[str, str], **config: Any) -> Listener:
    settings = ServerConfig(port=0, **config)
    terms = Terms(settings, keys)
    drain = Drain(terms)
    embeddings = Embeddings(gateway, Intake(terms, SystemClock()), drain)
    app = App(Routes({PATH: Place({"POST": embeddings.create})}), drain, terms, Redactor(), ())
    return Listener(app, settings)


@pytest.fixture
def opened() -> Callable[..., AbstractAsyncContextManager[Door]]:
    """`async with opened(embedder, …, keys=…, **server_config) as door`."""

    @asynccontextmanager
    async def open_door(
        *embedders: ScriptedEmbedder, keys: dict[str, str] | None = None, **config: Any
    ) -> AsyncIterator[Door]:
        embedders = embedders or (ScriptedEmbedder(embedder_spec("near")),)
        gateway = embedding_gateway(*embedders)
        async with door_of(gateway, keys or {}, **config) as listener:
            yield Door(listener, embedders[0])

    return open_door


def cloud(*steps: Any) -> ScriptedEmbedder:
    return ScriptedEmbedder(embedder_spec("far", Tier.CLOUD), *steps)


async def test_the_answer_is_openais_with_an_account_beside_it(opened):
    async with opened() as door:
        got = await door.ask({"model": "auto", "input": ["one", "二"]})
    assert got.status == 200
    body = got.json
    account = body.pop("hybridge")
    assert body == {
        "object": "list",
        "data": [
            {"object": "embedding", "index": i, "embedding": vector_of(text).tolist()}
            for i, text in enumerate(("one", "二"))
        ],
        "model": "near-model",
        "usage": {"prompt_tokens": 2, "total_tokens": 2},
    }
    assert (account["route"], account["tier"], account["cost_usd"]) == ("direct", "edge", 0)
    assert account["request_id"] == got.headers["x-hybridge-request-id"]
    assert got.headers["x-hybridge-route"] == "direct"
    assert got.headers["x-hybridge-model"] == "near-model"
    assert float(got.headers["x-hybridge-overhead-ms"]) >= 0


async def test_the_account_can_be_left_out_of_the_body(opened):
    async with opened(report_in_body=False) as door:
        got = await door.ask({"input": "one"})
    assert "hybridge" not in got.json
    assert got.headers["x-hybridge-route"] == "direct"


@pytest.mark.parametrize(
    ("given", "inputs"),
    [
        ("one", ("one",)),
        (["one"], ("one",)),
        ([1, 2, 3], ((1, 2, 3),)),
        ([[1, 2], [3]], ((1, 2), (3,))),
    ],
)
async def test_every_form_of_input_is_read(opened, given, inputs):
    async with opened(cloud()) as door:
        got = await door.ask({"input": given, "user": "u", "dimensions": 4})
    assert [len(row["embedding"]) for row in got.json["data"]] == [4] * len(inputs)
    assert door.embedder.calls[0].asked.inputs == inputs


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, "input", "invalid_value"),
        ({"input": None}, "input", "invalid_value"),
        ({"input": []}, "input", "invalid_value"),
        ({"input": 7}, "input", "invalid_value"),
        ({"input": ""}, "input", "empty_input"),
        ({"input": " \n"}, "input", "empty_input"),
        ({"input": ["a", "b", "c", ""]}, "input[3]", "empty_input"),
        ({"input": ["a", 1]}, "input[1]", "invalid_value"),
        ({"input": [{"text": "a"}]}, "input[0]", "invalid_value"),
        ({"input": [[1], []]}, "input[1]", "empty_input"),
        ({"input": [[1], "a"]}, "input[1]", "invalid_value"),
        ({"input": [[1], [2, "x"]]}, "input[1][1]", "invalid_value"),
        ({"input": [1, -1]}, "input[1]", "invalid_value"),
        ({"input": [1, True]}, "input[1]", "invalid_value"),
        ({"input": [1, 2.5]}, "input[1]", "invalid_value"),
        ({"input": [1, 2.0]}, "input[1]", "invalid_value"),
        ({"input": [True]}, "input[0]", "invalid_value"),
        ({"input": ["a"] * (MOST_INPUTS + 1)}, "input", "too_many_inputs"),
        ({"input": "a", "encoding_format": "hex"}, "encoding_format", "invalid_value"),
        ({"input": "a", "dimensions": 0}, "dimensions", "invalid_value"),
        ({"input": "a", "dimensions": 4}, "dimensions", "dimensions_not_possible"),
        ({"input": [[1]]}, "input", "unsupported_input"),
        ({"input": "a", "model": 3}, "model", "invalid_value"),
        ({"input": "a", "user": 3}, "user", "invalid_value"),
    ],
)
async def test_what_is_wrong_is_named(opened, body, param, code):
    async with opened() as door:
        got = await door.ask(body)
    error = got.json["error"]
    assert (got.status, error["type"]) == (400, "invalid_request_error")
    assert (error["param"], error["code"]) == (param, code)
    assert not door.embedder.calls


async def test_an_unknown_model_is_a_404_that_lists_the_known(opened):
    async with opened() as door:
        got = await door.ask({"input": "a", "model": "text-embedding-3-small"})
    assert got.status == 404
    assert got.json["error"]["code"] == "model_not_found"
    assert "known: auto, near (near-model)" in got.json["error"]["message"]


async def test_a_private_text_with_no_model_here_is_a_422(opened):
    async with opened(cloud()) as door:
        got = await door.ask({"input": ["fine", "my e-mail is alice@example.com"]})
        wished = await door.ask({"input": "fine"}, x_hybridge_privacy="high")
    assert (got.status, wished.status) == (422, 422)
    assert got.json["error"]["code"] == "privacy_no_local_path"
    assert not door.embedder.calls


async def test_headers_are_wishes_here_too(opened):
    async with opened() as door:
        got = await door.ask({"input": "a"}, x_hybridge_route="cloud")
        wrong = await door.ask({"input": "a"}, x_hybridge_route="moon")
    assert (got.status, got.json["error"]["code"]) == (400, "route_not_possible")
    assert wrong.json["error"]["param"] == "x-hybridge-route"


async def test_an_upstreams_status_and_retry_after_are_kept(opened):
    busy = BackendError("busy", backend="far", fault=Fault.LIMITED, status=429, retry_after_s=7)
    async with opened(cloud(busy)) as door:
        got = await door.ask({"input": "a"})
    assert (got.status, got.headers["retry-after"]) == (429, "7")


async def test_without_a_key_nobody_is_let_in(opened):
    async with opened(keys={"team": "secret-key-123"}) as door:
        refused = await door.ask({"input": "a"})
        let_in = await door.ask({"input": "a"}, authorization="Bearer secret-key-123")
    assert (refused.status, let_in.status) == (401, 200)
    assert door.embedder.calls[0].asked.request.tenant == "team"


async def test_who_hangs_up_stops_the_work(opened):
    hanging = ScriptedEmbedder(embedder_spec("near"), Hang())
    async with asyncio.timeout(10), opened(hanging, grace_s=60) as door:
        async with sent(door.listener.port, PATH, {"input": "a"}):
            while not door.embedder.calls:
                await asyncio.sleep(0.01)
    # leaving the listener waits for what is under way, for as long as the grace lasts


@given(
    texts=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=9),
    length=st.integers(1, 20),
)
async def test_base64_means_the_same_vectors_as_numbers(texts, length):
    spec = embedder_spec("near", shortens=True)
    asked = embedding_request(*texts, dimensions=length)
    reply = await embedding_gateway(ScriptedEmbedder(spec)).embed(asked)
    packed, plain = [await read_back(reply, compact=compact) for compact in (True, False)]
    decoded = [np.frombuffer(base64.b64decode(row), "<f4") for row in packed]
    assert np.array_equal(np.stack(decoded), np.array(plain, np.float32))
    assert np.array_equal(np.stack(decoded), reply.vectors)


async def read_back(reply: Any, *, compact: bool) -> list[Any]:
    body = msgspec.json.decode(await write(reply, None, compact=compact))
    return [row["embedding"] for row in body["data"]]


TEXTS = [f"text {i}" for i in range(150)]


async def test_the_official_sdk_reads_it_unchanged(opened):
    async with opened() as door:
        async with openai.AsyncOpenAI(
            base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
        ) as sdk:
            usual = await sdk.embeddings.create(model="auto", input=TEXTS)
            plain = await sdk.embeddings.create(
                model="near", input="one", encoding_format="float", user="u"
            )
    assert door.embedder.calls[0].asked.request.body["encoding_format"] == "base64"
    assert [row.index for row in usual.data] == list(range(len(TEXTS)))
    vectors = np.array([row.embedding for row in usual.data], np.float32)
    assert np.array_equal(vectors, np.stack([vector_of(text) for text in TEXTS]))
    assert np.array_equal(np.array(plain.data[0].embedding, np.float32), vector_of("one"))
    assert (usual.model, usual.usage.total_tokens) == ("near-model", len(TEXTS))
    assert usual.hybridge["tier"] == "edge"


async def test_so_does_the_sdk_that_blocks(opened):
    def create(url: str) -> Any:
        with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as sdk:
            return sdk.embeddings.create(model="auto", input=["one", "two"])

    async with opened() as door:
        answer = await asyncio.to_thread(create, door.listener.url)
    assert np.array_equal(np.array(answer.data[1].embedding, np.float32), vector_of("two"))


async def test_errors_are_the_sdks_own(opened):
    async with opened() as door:
        async with openai.AsyncOpenAI(
            base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
        ) as sdk:
            with pytest.raises(openai.NotFoundError):
                await sdk.embeddings.create(model="nobody", input="a")
            with pytest.raises(openai.BadRequestError) as no:
                await sdk.embeddings.create(model="near", input=["a", ""])
    assert no.value.param == "input[1]"
