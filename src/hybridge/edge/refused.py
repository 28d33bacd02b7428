"""What the engine cannot do for a request, said before it is asked."""

from __future__ import annotations

from hybridge.core.errors import BackendError, Fault


class Refused(Exception):
    """The request asks for something that this engine would have to drop in silence."""

    def __init__(self, param: str, why: str, *, code: str = "unsupported_parameter") -> None:
        super().__init__(f"`{param}` {why}")
        self.param = param
        """The field at fault, in the caller's own vocabulary."""
        self.why = why
        self.code = code

    def by(self, backend: str) -> BackendError:
        """As a backend's error: the caller's fault, though another backend may have no trouble."""
        return BackendError(
            f"{backend}: {self}",
            backend=backend,
            fault=Fault.CALLER,
            status=400,
            body={
                "message": str(self),
                "type": "invalid_request_error",
                "param": self.param,
                "code": self.code,
            },
        )
