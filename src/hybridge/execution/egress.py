"""The one door to a backend (R32)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from hybridge.core.backend import Backend, BackendSpec, Call
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
            raise BackendError(
                f"{self.spec.name} is not on this device, and the request may not leave it",
                backend=self.spec.name,
                fault=Fault.REFUSED,
            )
        return self._backend.answer(call)

    async def probe(self) -> None:
        await self._backend.probe()
