"""A house between two upstreams, and settings for it as an operator would change them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hybridge.core.request import Message, Request
from hybridge.settings import Settings, parse
from hybridge.testing.upstream import Upstream
from hybridge.wiring import House, request_of

PATIENCE_S = 30.0


@dataclass
class Scene:
    """A house whose edge `e` and cloud `c` are upstreams of the test's own."""

    house: House
    edge: Upstream
    cloud: Upstream
    data: dict[str, Any]

    def changed(self, change: Callable[[dict[str, Any]], None]) -> Settings:
        """The settings after one more edit."""
        change(self.data)
        return parse(self.data, {})

    async def take(self, change: Callable[[dict[str, Any]], None]) -> tuple[str, ...]:
        return await self.house.take(self.changed(change))

    async def ask(self, model: str = "auto", prompt: str = "Hello!", **more: Any) -> str:
        """The text of an answer."""
        return await ask(self.house, model, prompt, **more)


def request(model: str, prompt: str, **more: Any) -> Request:
    body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
    body |= {"stream": True} if more.get("stream") else {}
    plain = request_of(prompt)
    fields = {
        "id": plain.id,
        "model": model,
        "messages": (Message("user", prompt),),
        "body": body,
        "received_s": plain.received_s,
    }
    return Request(**fields | more)


async def ask(house: House, model: str, prompt: str = "Hello!", **more: Any) -> str:
    async with house.gateway.serve(request(model, prompt, **more)) as reply:
        texts = [event.text or "" async for event in reply.events]
    return "".join(texts)


async def until(wanted: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not wanted():
            await asyncio.sleep(0.02)


def local_row(name: str = "local") -> dict[str, Any]:
    """An engine of this process whose weights do not exist."""
    return {"name": name, "model": "/nowhere/weights.gguf"}
