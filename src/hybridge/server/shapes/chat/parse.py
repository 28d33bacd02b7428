"""From a chat request's JSON object to `core.Request`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.core.request import AUTO, Feature, Request
from hybridge.server.session import session_key
from hybridge.server.shapes.chat.fields import FIELDS
from hybridge.server.shapes.chat.messages import read_messages
from hybridge.server.shapes.forms import check, wrong
from hybridge.server.shapes.shape import Asker
from hybridge.server.tracing import read_traceparent
from hybridge.server.wishes import read_wish

FORMATS: Mapping[str, Feature | None] = {
    "text": None,
    "json_object": Feature.JSON,
    "json_schema": Feature.JSON_SCHEMA,
}
_NO_EFFORT = ("none", "minimal")


def read_request(said: dict[str, Any], asker: Asker) -> Request:
    """The request, checked as far as this house reads it; everything else stays in its `body`.

    A missing `model` means `auto`. Raises `RequestError` that names the field at fault.
    """
    messages, needs = read_messages(said.get("messages"))
    check(said, FIELDS)
    _check_together(said)
    model = said.get("model") or AUTO
    return Request(
        id=asker.id,
        model=model,
        messages=messages,
        body=said,
        stream=bool(said.get("stream")),
        include_usage=bool((said.get("stream_options") or {}).get("include_usage")),
        max_tokens=said.get("max_completion_tokens") or said.get("max_tokens"),
        features=needs.union(_features(said)),
        tenant=asker.tenant,
        session=session_key(asker.tenant, asker.headers.get(b"x-session-id"), said, messages)
        if model == AUTO
        else None,
        wish=read_wish(asker.headers),
        received_s=asker.received_s,
        traceparent=read_traceparent(asker.headers),
    )


def _check_together(said: Mapping[str, Any]) -> None:
    """What no field shows alone. Raises `RequestError`."""
    if said.get("stream_options") is not None and not said.get("stream"):
        raise RequestError(
            "`stream_options` is only allowed together with `stream: true`",
            param="stream_options",
            code="invalid_value",
        )
    if said.get("top_logprobs") and not said.get("logprobs"):
        raise RequestError(
            "`top_logprobs` needs `logprobs: true`", param="top_logprobs", code="invalid_value"
        )
    wanted = said.get("response_format")
    if wanted is not None and _kind(wanted) not in FORMATS:
        raise wrong("response_format.type", f"one of {', '.join(FORMATS)}", wanted.get("type"))


def _features(said: Mapping[str, Any]) -> Iterator[Feature]:
    """What the request's parameters need of a backend."""
    if said.get("tools") or said.get("functions") or said.get("web_search_options") is not None:
        yield Feature.TOOLS
    if (said.get("n") or 1) > 1:
        yield Feature.CHOICES
    if said.get("logprobs"):
        yield Feature.LOGPROBS
    if said.get("audio") is not None or _speaks(said.get("modalities")):
        yield Feature.AUDIO
    if (said.get("reasoning_effort") or "none") not in _NO_EFFORT:
        yield Feature.REASONING
    form = FORMATS[_kind(said.get("response_format"))]
    if form is not None:
        yield form


def _kind(form: Mapping[str, Any] | None) -> str:
    kind = form.get("type") if form is not None else "text"
    return kind if isinstance(kind, str) else ""


def _speaks(modalities: object) -> bool:
    """Whether an answer in sound is asked for; anything but a list asks for nothing here."""
    return isinstance(modalities, list) and "audio" in modalities
