"""The one door to a backend (R32)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.embedding import Embedded, Embedder, EmbedderSpec, EmbeddingCall
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Clearance
from hybridge.core.response import Event


class Guarded:
    """Wraps a backend so that a request bound to this device cannot leave through it.

    Planning already drops such backends; this holds even where planning is wrong.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def spec(self) -> BackendSpec:
        return self._backend.spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The wrapped backend's answer. Raises `BackendError` (REFUSED) without clearance."""
        if call.request.clearance is Clearance.DEVICE_ONLY and self.spec.leaves_device:
            raise _refused(self.spec.name)
        return self._backend.answer(call)

    async def probe(self) -> None:
        await self._backend.probe()


class GuardedEmbedder:
    """Wraps an embedder so that a request bound to this device cannot leave through it (R32).

    Planning already refuses such requests; this holds even where planning is wrong.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def spec(self) -> EmbedderSpec:
        return self._embedder.spec

    async def embed(self, call: EmbeddingCall) -> Embedded:
        """The wrapped embedder's answer. Raises `BackendError` (REFUSED) without clearance."""
        spec = self.spec
        if spec.leaves_device and call.asked.request.clearance is Clearance.DEVICE_ONLY:
            raise _refused(spec.name)
        return await self._embedder.embed(call)


def _refused(name: str) -> BackendError:
    return BackendError(
        f"{name} is not on this device, and the request may not leave it",
        backend=name,
        fault=Fault.REFUSED,
    )
