"""What becomes of pictures at an address on the way to a backend."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.pictures import Pictures
from hybridge.cloud.pictures.places import places
from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Clearance
from hybridge.core.response import Event


class KeptHome:
    """Wraps a backend that may fetch pictures by itself: not those of a request that may not leave
    this device (R32), for to fetch a picture tells its host of the request."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def spec(self) -> BackendSpec:
        return self._backend.spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The wrapped backend's answer. Raises `BackendError` (UNABLE)."""
        if call.request.clearance is Clearance.DEVICE_ONLY:
            for place in places(call.request.body):
                raise _stays(self.spec.name, place.param)
        return self._backend.answer(call)

    async def probe(self) -> None:
        await self._backend.probe()


class Shown:
    """Wraps a backend that does not fetch pictures by itself: it gets them as data URIs.

    The same holds for a request that may not leave this device.
    """

    def __init__(self, backend: Backend, pictures: Pictures) -> None:
        self._backend = KeptHome(backend)
        self._pictures = pictures

    @property
    def spec(self) -> BackendSpec:
        return self._backend.spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The wrapped backend's answer. Raises `BackendError` for a picture that cannot be had."""
        stays = call.request.clearance is Clearance.DEVICE_ONLY
        if stays or not places(call.request.body):
            return self._backend.answer(call)
        return self._shown(call)

    async def probe(self) -> None:
        await self._backend.probe()

    async def _shown(self, call: Call) -> AsyncGenerator[Event, None]:
        try:
            body = await self._pictures.inline(call.request.body, call.deadline)
        except BadPicture as error:
            raise _bad(self.spec.name, error) from error
        shown = replace(call, request=replace(call.request, body=body))
        async with aclosing(self._backend.answer(shown)) as events:
            async for event in events:
                yield event


def _bad(backend: str, error: BadPicture) -> BackendError:
    return _error(backend, Fault.CALLER, str(error), error.param, "invalid_image")


def _stays(backend: str, param: str) -> BackendError:
    said = (
        f"`{param}` would have to be fetched, and the request may not leave this device; "
        "send the picture itself, as a data URI"
    )
    return _error(backend, Fault.UNABLE, said, param, "privacy_no_local_path")


def _error(backend: str, fault: Fault, said: str, param: str | None, code: str) -> BackendError:
    body = {"message": said, "type": "invalid_request_error", "param": param, "code": code}
    return BackendError(f"{backend}: {said}", backend=backend, fault=fault, body=body)
