"""The one door through which a request leaves this device (R32).

Planning already drops whoever is elsewhere; this holds even where planning is wrong.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.embedding import Embedded, Embedder, EmbedderSpec, EmbeddingCall
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Clearance, Request
from hybridge.core.response import Event
from hybridge.core.trail import Exit, Kind


class Elsewhere(Protocol):
    """What the door asks of whoever is to get a request."""

    @property
    def name(self) -> str: ...
    @property
    def leaves_device(self) -> bool: ...


def let_out(request: Request, to: Elsewhere, kind: Kind = "backend") -> Request:
    """The request as `to` may see it; that it leaves is noted in its trail.

    Raises `BackendError` (REFUSED) where its clearance does not allow it.
    """
    if not to.leaves_device:
        return request
    if request.clearance is Clearance.ANYWHERE:
        request.trail.note(Exit(to.name, kind))
        return request
    disguise = request.disguise
    if request.clearance is Clearance.DEVICE_ONLY or disguise is None:
        raise _refused(to)
    request.trail.note(Exit(to.name, kind, disguised=True))
    return disguise.request


class Guarded:
    """Wraps a backend so that requests reach it through the door only."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def spec(self) -> BackendSpec:
        return self._backend.spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The wrapped backend's answer. Raises `BackendError` (REFUSED) without clearance."""
        request = let_out(call.request, self.spec, call.kind)
        if request is call.request:
            return self._backend.answer(call)
        return self._disguised(call, request)

    async def probe(self) -> None:
        await self._backend.probe()

    def _disguised(self, call: Call, request: Request) -> AsyncGenerator[Event, None]:
        disguise = call.request.disguise
        if disguise is None:
            raise RuntimeError("only a disguised request leaves as another one")
        answer = self._backend.answer(Call(request, call.deadline, call.want_logprobs, call.kind))
        return disguise.restored(answer)


class GuardedEmbedder:
    """Wraps an embedder in the same way. Vectors of placeholders would mean nothing, so what holds
    personal data does not leave for one at all."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def spec(self) -> EmbedderSpec:
        return self._embedder.spec

    async def embed(self, call: EmbeddingCall) -> Embedded:
        """The wrapped embedder's answer. Raises `BackendError` (REFUSED) without clearance."""
        spec, request = self.spec, call.asked.request
        if spec.leaves_device and request.clearance is not Clearance.ANYWHERE:
            raise _refused(spec)
        let_out(request, spec, "embedder")
        return await self._embedder.embed(call)


def _refused(to: Elsewhere) -> BackendError:
    return BackendError(
        f"{to.name} is not on this device, and the request may not leave it",
        backend=to.name,
        fault=Fault.REFUSED,
    )
