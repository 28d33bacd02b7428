"""The body that an upstream gets: the caller's, changed no more than it must be."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.cloud.extras import NONE, Extra, Extras
from hybridge.cloud.providers import LimitField
from hybridge.core.backend import Call

_encode = msgspec.json.Encoder().encode


def outgoing(call: Call, model: str, limit_field: LimitField, extras: Extras = NONE) -> bytes:
    """The request's body with the upstream's model name, and with `extras`.

    A limit of tokens goes out under the one name that the upstream knows; sent under both names,
    `max_completion_tokens` is the one that counts.
    """
    body: dict[str, Any] = {**call.request.body, "model": model}
    if Extra.USAGE in extras:
        body["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
    if Extra.LOGPROBS in extras:
        body["logprobs"] = True
    if limit_field != "as_sent":
        _rename_limit(body, limit_field)
    return _encode(body)


def _rename_limit(body: dict[str, Any], name: LimitField) -> None:
    sent = [body.pop(key, None) for key in ("max_completion_tokens", "max_tokens")]
    limit = next((value for value in sent if value is not None), None)
    if limit is not None:
        body[name] = limit
