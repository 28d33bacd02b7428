"""What this package needs of a gateway; `hybridge.gateway.gateway.Gateway` has it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from hybridge.budget.allowance import Rate
from hybridge.core.backend import BackendSpec
from hybridge.core.embedding import EmbedderSpec, EmbeddingRequest
from hybridge.core.report import Report
from hybridge.core.request import Request
from hybridge.core.response import Event, Usage
from hybridge.gateway.embedding_trip import EmbeddingReply
from hybridge.gateway.status import Status


class Reply(Protocol):
    """One answer under way."""

    @property
    def events(self) -> AsyncIterator[Event]:
        """Raises `HybridgeError` where the answer breaks off."""
        ...

    @property
    def usage(self) -> Usage:
        """Tokens so far, estimated where the backend does not count."""
        ...

    @property
    def rates(self) -> Mapping[str, Rate]:
        """What is left of the key's allowance, of `requests` and of `tokens`; empty without one."""
        ...

    def report(self) -> Report:
        """The account as of now; final once the events are over."""
        ...


class GatewayPort(Protocol):
    """Serves requests and tells about itself."""

    def serve(self, request: Request) -> AbstractAsyncContextManager[Reply]:
        """Entered once an answer has begun; raises `HybridgeError` where none could."""
        ...

    async def explain(self, request: Request) -> Report:
        """What would be done with the request."""
        ...

    def count_tokens(self, request: Request) -> int:
        """Tokens of everything in the request that a model would read, estimated."""
        ...

    async def embed(self, asked: EmbeddingRequest) -> EmbeddingReply:
        """The vectors of a request's inputs."""
        ...

    def embedders(self) -> tuple[EmbedderSpec, ...]: ...

    def status(self) -> Status: ...

    def models(self) -> tuple[BackendSpec, ...]: ...
