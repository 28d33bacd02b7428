"""Whatever goes wrong in the talk with an upstream becomes a `BackendError`."""

from __future__ import annotations

from hybridge.cloud import faults
from hybridge.cloud.dialect import NoWord
from hybridge.cloud.sse import EventTooLarge
from hybridge.cloud.transport import TooSlow, Unreachable
from hybridge.core import wire
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor


class Classified:
    """To be held around that talk."""

    def __init__(self, backend: str, redact: Redactor) -> None:
        self._backend = backend
        self._redact = redact

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        match error:
            case None:
                return
            case TooSlow():
                raise self._failed(str(error), Fault.TIMEOUT) from error
            case Unreachable():
                raise self._failed(str(error), Fault.NETWORK) from error
            case wire.ErrorInBand():
                raise faults.in_band(self._backend, error.body, self._redact) from error
            case wire.Malformed() | EventTooLarge():
                raise self._failed("said something that is no answer", Fault.PROTOCOL) from error
            case NoWord():
                raise self._unable(error) from error
            case _:
                return

    def _unable(self, error: NoWord) -> BackendError:
        said = f"{self._backend} {error}"
        kind, code = "invalid_request_error", "unsupported_parameter"
        inner = {"message": said, "type": kind, "param": error.param, "code": code}
        return BackendError(said, backend=self._backend, fault=Fault.UNABLE, body=inner)

    def _failed(self, what: str, fault: Fault) -> BackendError:
        return BackendError(f"{self._backend}: {what}", backend=self._backend, fault=fault)
