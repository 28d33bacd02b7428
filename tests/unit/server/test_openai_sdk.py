"""R70: the official SDK, unchanged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import openai
import pytest

from hybridge.core.errors import BackendError, Fault, NotServed
from hybridge.testing.backend import whole
from hybridge.testing.gateway import piece

pytestmark = pytest.mark.anyio
ASK = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
def client(opened) -> Callable[..., AsyncIterator[openai.AsyncOpenAI]]:
    @asynccontextmanager
    async def connect(*steps, **config):
        async with (
            opened(*steps, **config) as door,
            openai.AsyncOpenAI(
                base_url=f"{door.listener.url}/v1", api_key="none", max_retries=0
            ) as sdk,
        ):
            yield sdk

    return connect


async def test_whole(client):
    async with client(whole("Hello.")) as sdk:
        answer = await sdk.chat.completions.create(**ASK)
    assert answer.choices[0].message.content == "Hello."
    assert answer.hybridge["route"] == "cloud_classified"
    assert answer._request_id.startswith("req-")


async def test_stream_with_usage(client):
    async with client(piece("你"), piece("好"), piece(finish="stop")) as sdk:
        stream = await sdk.chat.completions.create(
            **ASK, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "你好"
    assert chunks[-1].usage.total_tokens == 10
    assert chunks[-1].hybridge["score"] == 8.25


async def test_a_broken_stream_raises(client):
    broken = BackendError("gpt hung up", backend="gpt", fault=Fault.NETWORK)
    async with client(piece("one"), broken) as sdk:
        stream = await sdk.chat.completions.create(**ASK, stream=True)
        with pytest.raises(openai.APIError, match="gpt hung up"):
            async for _ in stream:
                pass


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (NotServed("nobody"), openai.InternalServerError),
        (
            BackendError("busy", backend="gpt", fault=Fault.BUSY, status=429, retry_after_s=30),
            openai.RateLimitError,
        ),
    ],
)
async def test_errors_are_the_sdks_own(client, error, raised):
    async with client(error) as sdk:
        with pytest.raises(raised) as caught:
            await sdk.chat.completions.create(**ASK)
    assert int(caught.value.response.headers["retry-after"]) >= 1


async def test_models(client):
    async with client() as sdk:
        names = [model.id async for model in sdk.models.list()]
        one = await sdk.models.retrieve("gpt")
    assert names == ["auto", "gpt", "lab/qwen"]
    assert one.hybridge["tier"] == "cloud"
