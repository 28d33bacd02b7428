"""Every error that this package raises on purpose.

HybridgeError
├── ConfigError             the operator's files or environment; names file, line, key, way out
├── RequestError            the caller's fault: malformed or impossible request
│   ├── Unauthorized        no key, or an unknown one
│   ├── UnknownModel        no backend of that name
│   └── Unsupported         no backend can do what was asked (feature, context length)
├── PrivacyNoLocalPath      may not leave the device, and nothing on the device can do it
├── NotServed               nobody could answer now; worth trying again after `retry_after_s`
├── BudgetExhausted         a named cloud model, and no money left
├── RateLimited             this API key asks too much; worth trying again after `retry_after_s`
├── BackendError            one backend failed one call; `fault` says how
└── ModelError              weights that cannot be found, fetched, verified or loaded

HTTP status codes for these live in `server/errors.py` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct


class HybridgeError(Exception):
    """Root of the tree."""


class ConfigError(HybridgeError):
    """Configuration that cannot be used. The message is complete: file, line, key, way out."""


class RequestError(HybridgeError):
    """A request that cannot be served as it is, whoever serves it."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        """The field at fault, in the caller's own vocabulary."""
        self.code = code
        """A stable word for programs."""


class Unauthorized(RequestError):
    """No API key, or one that is not known."""


class UnknownModel(RequestError):
    """The named model is not configured."""


class Unsupported(RequestError):
    """No configured backend can do what the request needs."""


class PrivacyNoLocalPath(HybridgeError):
    """The request may not leave this device, and nothing here can serve it (R32)."""


RATE_LIMITED = "rate_limit_exceeded"
"""The code of a refusal for no other reason than a rate limit, be it an upstream's or ours."""


class NotServed(HybridgeError):
    """Every attempt failed or was unavailable."""

    def __init__(
        self, message: str, *, retry_after_s: float = 1.0, code: str = "unavailable"
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.code = code
        """A stable word for programs: `unavailable`, `privacy_local_unavailable`, or `RATE_LIMITED`
        where a rate limit keeps everybody who could answer from it."""


class BudgetExhausted(HybridgeError):
    """The caller named a paid backend and its budget is spent."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds until the budget's period begins anew."""


class RateLimited(HybridgeError):
    """The API key has used up what it may ask for now (R44)."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds until there is room again."""


class Blame(StrEnum):
    """Who has to change something so that it does not happen again."""

    CALLER = "caller"
    OPERATOR = "operator"
    UPSTREAM = "upstream"
    NOBODY = "nobody"


class Again(StrEnum):
    """Whether the same backend may be asked the same thing again."""

    NEVER = "never"
    """It would say the same."""
    LATER = "later"
    """After the time it asked for (`Retry-After`), else when its breaker lets it."""


class Fault(StrEnum):
    """How a backend failed, classified once by its adapter. `FAULTS` says what follows from it."""

    CALLER = "caller"
    """The backend refused the request itself (400, 413, 422)."""
    CONTEXT = "context"
    """The prompt does not fit the backend's context."""
    UNABLE = "unable"
    """This backend or its model cannot do what the request asks; the request is sound."""
    ABSENT = "absent"
    """The upstream knows no such model or path (404, 405, 410): its configuration is wrong."""
    CREDENTIALS = "credentials"
    """The gateway's own key or account was refused (401, 402, 403, no quota left)."""
    LIMITED = "limited"
    """Too much was asked of it with the gateway's key (429)."""
    BUSY = "busy"
    """No room for anybody now: full queue, no free slot (529, 503 with `Retry-After`)."""
    SERVER = "server"
    """The backend broke (5xx)."""
    NETWORK = "network"
    """It could not be reached, or hung up."""
    TIMEOUT = "timeout"
    """It was too slow for its own limits or the request's deadline."""
    PROTOCOL = "protocol"
    """It said something that is not an answer, or a stream ended without its end."""
    REFUSED = "refused"
    """Not asked at all: the breaker was open, or the request's clearance forbids it."""

    @property
    def blame(self) -> Blame:
        """Whose it is."""
        return FAULTS[self].blame

    @property
    def elsewhere(self) -> bool:
        """Whether another backend is worth asking."""
        return FAULTS[self].elsewhere

    @property
    def again(self) -> Again:
        """Whether the same backend may be asked again, and when."""
        return FAULTS[self].again

    @property
    def counts_for_breaker(self) -> bool:
        """Whether it says something about the backend's health (R43)."""
        return FAULTS[self].counts


class Conduct(Struct, frozen=True):
    """What follows from a fault: one row of `FAULTS`."""

    blame: Blame
    elsewhere: bool
    again: Again
    counts: bool


_HERE, _ELSEWHERE = False, True
_LEAVES, _COUNTS = False, True

FAULTS: Mapping[Fault, Conduct] = {
    Fault.CALLER: Conduct(Blame.CALLER, _HERE, Again.NEVER, _LEAVES),
    Fault.CONTEXT: Conduct(Blame.CALLER, _ELSEWHERE, Again.NEVER, _LEAVES),
    Fault.UNABLE: Conduct(Blame.CALLER, _ELSEWHERE, Again.NEVER, _LEAVES),
    Fault.ABSENT: Conduct(Blame.OPERATOR, _ELSEWHERE, Again.NEVER, _LEAVES),
    Fault.CREDENTIALS: Conduct(Blame.OPERATOR, _ELSEWHERE, Again.NEVER, _COUNTS),
    Fault.LIMITED: Conduct(Blame.UPSTREAM, _ELSEWHERE, Again.LATER, _COUNTS),
    Fault.BUSY: Conduct(Blame.UPSTREAM, _ELSEWHERE, Again.LATER, _COUNTS),
    Fault.SERVER: Conduct(Blame.UPSTREAM, _ELSEWHERE, Again.LATER, _COUNTS),
    Fault.NETWORK: Conduct(Blame.UPSTREAM, _ELSEWHERE, Again.LATER, _COUNTS),
    Fault.TIMEOUT: Conduct(Blame.UPSTREAM, _ELSEWHERE, Again.LATER, _COUNTS),
    Fault.PROTOCOL: Conduct(Blame.UPSTREAM, _ELSEWHERE, Again.LATER, _COUNTS),
    Fault.REFUSED: Conduct(Blame.NOBODY, _ELSEWHERE, Again.LATER, _LEAVES),
}
"""The one place that says what to make of a fault; the runner, the breaker and the server read it.

Whose it is, whether another backend is worth asking, whether the same one may be asked again, and
whether it counts for the breaker. That an upstream's 404 does not count has a reason: it may speak
of a file that the caller named.
"""


class BackendError(HybridgeError):
    """One backend failed one call."""

    def __init__(
        self,
        message: str,
        *,
        backend: str,
        fault: Fault,
        status: int | None = None,
        body: Mapping[str, Any] | None = None,
        retry_after_s: float | None = None,
        upstream_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.backend = backend
        self.fault = fault
        self.status = status
        """The upstream's HTTP status, where there was one."""
        self.body = body
        """The upstream's inner error object, with `message` and `type`, where there was one."""
        self.retry_after_s = retry_after_s
        self.upstream_id = upstream_id
        """The upstream's request id, for its support."""

    def anew(self) -> BackendError:
        """The same, to be raised where this one is kept: an error that was raised leads to the
        frames that it went through, and to all that they hold."""
        return BackendError(
            str(self),
            backend=self.backend,
            fault=self.fault,
            status=self.status,
            body=self.body,
            retry_after_s=self.retry_after_s,
            upstream_id=self.upstream_id,
        )


class ModelError(HybridgeError):
    """A local model that cannot be found, fetched, verified or loaded; the message names the way
    out."""
