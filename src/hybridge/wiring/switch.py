"""Between the server and its gateway: the one place that knows which generation serves."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from msgspec.structs import replace

from hybridge.core.backend import BackendSpec
from hybridge.core.embedding import EmbedderSpec, EmbeddingRequest
from hybridge.core.report import Report
from hybridge.core.request import Request
from hybridge.gateway.embedding_trip import EmbeddingReply
from hybridge.gateway.reply import Reply
from hybridge.gateway.status import ConfigStatus, Status
from hybridge.wiring.generation import Generation

_log = logging.getLogger("hybridge.reload")


class Switch:
    """Implements `server.gateway_port.GatewayPort`: each request is for the generation of its time.

    A generation that was replaced is put down when its last request is over.
    """

    def __init__(self, first: Generation, config: ConfigStatus) -> None:
        self.current = first
        self.config = config
        """What is told of the configuration."""
        self._leaving: dict[Generation, asyncio.Task[None]] = {}

    def serve(self, request: Request) -> AbstractAsyncContextManager[Reply]:
        """The current generation's, which stays until the request is over."""
        return self.current.gateway.serve(request)

    async def explain(self, request: Request) -> Report:
        """The current generation's."""
        return await self.current.gateway.explain(request)

    def count_tokens(self, request: Request) -> int:
        """The current generation's."""
        return self.current.gateway.count_tokens(request)

    async def embed(self, asked: EmbeddingRequest) -> EmbeddingReply:
        """The current generation's, which stays until the request is over."""
        return await self.current.embedding.embed(asked)

    def embedders(self) -> tuple[EmbedderSpec, ...]:
        """The current generation's."""
        return self.current.embedding.models()

    def status(self) -> Status:
        """The current generation's, and what its configuration is."""
        return replace(self.current.gateway.status(), config=self.config)

    def models(self) -> tuple[BackendSpec, ...]:
        """The current generation's."""
        return self.current.gateway.models()

    def to(self, new: Generation) -> None:
        """From now on `new` serves."""
        old, self.current = self.current, new
        if old is not new:
            self._leaving[old] = asyncio.create_task(self._put_down(old), name="leaving")

    async def close(self) -> None:
        """Puts all generations down, whatever is on them."""
        leaving, self._leaving = self._leaving, {}
        for task in leaving.values():
            task.cancel()
        await asyncio.gather(*leaving.values(), return_exceptions=True)
        generations = (self.current, *leaving)
        for shadow in {generation.shadow for generation in generations}:
            await shadow.close()
        for part in {part for generation in generations for part in generation.parts}:
            await part.close()

    async def _put_down(self, old: Generation) -> None:
        await old.visits.idle()
        del self._leaving[old]
        living = (self.current, *self._leaving)
        try:
            if all(generation.shadow is not old.shadow for generation in living):
                await old.shadow.close()
            held = {part for generation in living for part in generation.parts}
            async with AsyncExitStack() as stack:
                for part in old.parts - held:
                    stack.push_async_callback(part.close)
        except Exception:
            _log.exception("a replaced configuration could not be put down")
