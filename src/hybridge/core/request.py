"""What a caller asks for, in the words of this house."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from enum import StrEnum
from typing import Any, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from hybridge.core.response import Event
from hybridge.core.trail import Trail


class Tier(StrEnum):
    """Where a backend belongs."""

    EDGE = "edge"
    CLOUD = "cloud"


class Clearance(StrEnum):
    """How far a request may travel (R32). Every backend call checks it."""

    ANYWHERE = "anywhere"
    DISGUISED = "disguised"
    """Anywhere, with placeholders where it holds personal data; see `Request.disguise`."""
    DEVICE_ONLY = "device_only"


class Feature(StrEnum):
    """What a request needs from a backend beyond plain chat (R7, R70)."""

    TOOLS = "tools"
    JSON = "json"
    """`response_format` of type `json_object`."""
    JSON_SCHEMA = "json_schema"
    IMAGES = "images"
    AUDIO = "audio"
    FILES = "files"
    LOGPROBS = "logprobs"
    CHOICES = "choices"
    """More than one choice (`n`)."""
    REASONING = "reasoning"
    """`reasoning_effort` above `none`/`minimal`."""


class Message(Struct, frozen=True):
    """One turn of a conversation, as far as routing and privacy read it."""

    role: str
    """`system`, `developer`, `user`, `assistant` or `tool`."""
    text: str = ""
    """Its text parts, joined by line breaks."""
    images: int = 0
    """How many pictures it holds."""
    tool_calls: int = 0
    """How many tool calls it holds."""


Handling = Literal["allow", "pseudonymise", "local_only", "block"]
"""What is done about personal data, the mildest first."""


class Wish(Struct, frozen=True):
    """What the caller asked of the router in headers (R7). A wish tightens, it never loosens."""

    tier: Tier | None = None
    """`x-hybridge-route`; None is `auto`."""
    max_latency_s: float | None = None
    """`x-hybridge-max-latency-ms`, in seconds."""
    private: bool = False
    """`x-hybridge-privacy: high`: the request stays here, whatever is in it."""
    handling: Handling = "allow"
    """`x-hybridge-privacy: pseudonymise`, `local_only` or `block`: the least that is done about
    personal data that is found."""


AUTO = "auto"
"""The model name that leaves the choice to the router."""


class Request(Struct, frozen=True):
    """One chat request.

    `server` reads the wire into the typed fields, which is all that routing, privacy and learning
    look at. `body` is the same request in the chat-completions vocabulary, which every engine and
    cloud here speaks: adapters send it on unchanged except for the model's name.
    """

    id: str
    """Unique; returned as `x-hybridge-request-id`."""
    model: str
    """`auto`, or the name of a backend or of its model (then the route is `direct`)."""
    messages: tuple[Message, ...]
    body: Mapping[str, Any]
    """The request's JSON object as received. Never changed in place."""
    stream: bool = False
    include_usage: bool = False
    """`stream_options.include_usage`."""
    max_tokens: int | None = None
    """`max_completion_tokens`, else `max_tokens`."""
    features: frozenset[Feature] = frozenset()
    tenant: str = "anonymous"
    """Name of the API key."""
    session: str | None = None
    """The session's key, scoped to the tenant; None when there is nothing to bind to."""
    wish: Wish = Wish()
    clearance: Clearance = Clearance.ANYWHERE
    disguise: Disguise | None = None
    """How it looks to whoever is not on this device; None unless its clearance is `DISGUISED`."""
    trail: Trail = field(default_factory=Trail)
    """Where it went; filled by the one door that it can leave through."""
    received_s: float = 0.0
    """When the request had been read, on the clock's monotonic scale."""
    traceparent: str | None = None
    """Of the caller's trace (W3C Trace Context), well formed. It never goes on to a backend."""

    def __repr__(self) -> str:
        """Without a word of what was said, for it may end up in a log."""
        return f"Request(id={self.id!r}, model={self.model!r}, tenant={self.tenant!r})"

    @property
    def last_user_text(self) -> str:
        """The text of the last user turn, however long."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")

    @property
    def text(self) -> str:
        """All text of all turns, joined by line breaks."""
        return "\n".join(m.text for m in self.messages if m.text)


class Disguise(Protocol):
    """A request with placeholders where it holds personal data, and the way back (R31).

    Made for one request by `privacy`, put on and taken off at the door in `execution.egress`.

    What stands for what is known to it alone, in memory, and gone with the request.
    """

    @property
    def request(self) -> Request:
        """The request as it may leave."""
        ...

    def restored(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """An answer with the values back in the places of their placeholders, however it is cut
        into pieces. Closing it closes `events`."""
        ...


def whole(request: Request) -> Request:
    """The same request, to be answered in one piece."""
    if not request.stream:
        return request
    body = {k: v for k, v in request.body.items() if k not in ("stream", "stream_options")}
    return replace(request, stream=False, include_usage=False, body=body)
