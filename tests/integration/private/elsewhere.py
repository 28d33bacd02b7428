"""Everything on loopback that a gateway may tell something: it records what it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Self

from tests.redis_server import Recorder, holding_nothing, recording

from hybridge.testing import anthropic
from hybridge.testing.replies import Cut, Received, Reply, Step, answers, cut, fails, says
from hybridge.testing.upstream import Upstream


def echoes(received: Received) -> Iterator[Step]:
    """Refuses a request and quotes all of it, as some do."""
    said = received.body.decode("utf-8", "replace")
    yield from fails(400, f"cannot read: {said}", type="invalid_request_error")(received)


def vectors(received: Received) -> Iterator[Step]:
    """An embedding for each input."""
    asked = received.json.get("input")
    count = len(asked) if isinstance(asked, list) else 1
    rows = [{"object": "embedding", "index": i, "embedding": [0.5, 0.5]} for i in range(count)]
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    body = {"object": "list", "data": rows, "model": "vectors", "usage": usage}
    yield from answers(body)(received)


MOODS: dict[str, Reply] = {
    "fine": says("It is so, for the reasons given."),
    "failing": fails(500),
    "busy": fails(429, headers={"retry-after": "0"}),
    "quoting": echoes,
    "broken": cut(says("one two three four five six"), after=3, end=Cut.RESET),
}
NEAR_MOODS: dict[str, Reply] = {
    "sure": says("Yes.", logprob=-0.01),
    "unsure": says("Perhaps, who knows.", logprob=-4.0),
    "failing": fails(500),
    "refusing": fails(400, "the prompt is too long", code="context_length_exceeded"),
    "quoting": echoes,
    "empty": says(""),
    "broken": cut(says("one two three four five six"), after=3, end=Cut.RESET),
}


class Elsewhere:
    """A local model, and all that is not on this device: two clouds, vectors, and pictures; a cache
    that others can read, a webhook for alerts, and a collector of traces."""

    def __init__(self) -> None:
        self.near = Upstream(NEAR_MOODS["sure"])
        self.far = Upstream(MOODS["fine"])
        self.claude = Upstream(anthropic.says("It is so."))
        self.vectors = Upstream(vectors)
        self.pictures = Upstream(on_get=fails(404))
        self.cache = Recorder()
        self.hook = Upstream(answers({}))
        self.collector = Upstream(answers({}))
        self._stack = AsyncExitStack()

    @property
    def outside(self) -> tuple[Upstream, ...]:
        """Those who are not on this device."""
        return self.far, self.claude, self.vectors, self.pictures

    @property
    def all(self) -> tuple[Upstream, ...]:
        return self.near, *self.outside, self.hook, self.collector

    @property
    def ports(self) -> set[int]:
        """Of all of them, and of the local model."""
        addresses = [one.root_url for one in self.all]
        addresses.append(self.cache.url.removesuffix("/0"))
        return {int(address.rpartition(":")[2]) for address in addresses}

    async def __aenter__(self) -> Self:
        for upstream in self.all:
            await self._stack.enter_async_context(upstream)
        self.cache = await self._stack.enter_async_context(recording(holding_nothing))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def set(self, near: str, far: str) -> None:
        """From now on they are in these moods."""
        self.near.then(NEAR_MOODS[near])
        self.far.then(MOODS[far])
        self.claude.then(anthropic.says("It is so.") if far == "fine" else MOODS[far])

    def told(self) -> list[bytes]:
        """Every request that left the device, with its head, as bytes; forgotten after that."""
        said, self.cache.received = [self.cache.received], b""
        for upstream in self.outside:
            said += [_raw(received) for received in upstream.requests]
            upstream.requests.clear()
        return said

    def news(self) -> list[bytes]:
        """All that the webhook and the collector were told, which comes later."""
        return [_raw(received) for one in (self.hook, self.collector) for received in one.requests]

    def config(self, **sections: Any) -> dict[str, Any]:
        """A configuration with all of them in it."""
        e = {"name": "e", "engine": "openai", "base_url": self.near.base_url, "model": "small"}
        price = {"input_usd": 2, "output_usd": 8}
        c = {"name": "c", "base_url": self.far.base_url, "model": "large", "price": price}
        d = {"name": "d", "provider": "anthropic", "base_url": self.claude.root_url}
        d |= {"model": "claude-sonnet-4-5", "price": price, "api_key_env": "D_KEY"}
        v = {"name": "v", "engine": "openai", "model": "vectors", "tier": "cloud"}
        v |= {"base_url": self.vectors.base_url, "price": "0.02"}
        return {
            "edge": {"backends": [e]},
            "cloud": {"backends": [c, d], "pictures": {"allowed": ["127.0.0.1"]}},
            "embeddings": {"backends": [v]},
            "state": {"redis_url": self.cache.url},
            "alerts": {
                "webhooks": [{"name": "ops", "url": f"{self.hook.root_url}/hook"}],
                "cloud_daily_usd": 1e-9,
            },
            "telemetry": {"otlp_endpoint": self.collector.root_url},
            **sections,
        }


def _raw(received: Received) -> bytes:
    head = "".join(f"{name}: {value}\n" for name, value in received.headers.items())
    return f"{received.method} {received.target}\n{head}".encode() + received.body
