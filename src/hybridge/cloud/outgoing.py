"""The body that an upstream gets: the caller's, changed no more than it must be."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.cloud.limits import LimitField, renamed
from hybridge.cloud.tolerance import PLAIN, Change, Manner
from hybridge.cloud.tool_ids import Spelling, respelled
from hybridge.core.backend import Call

_encode = msgspec.json.Encoder().encode


def outgoing(
    call: Call,
    model: str,
    limit_field: LimitField,
    spelling: Spelling | None = None,
    manner: Manner = PLAIN,
) -> bytes:
    """The request's body with the upstream's model name, and with what this house adds to it.

    A limit of tokens goes out under the one name that the upstream knows; sent under both names,
    `max_completion_tokens` is the one that counts. Tool ids are respelled where there is a
    `spelling`.
    """
    body: dict[str, Any] = {**call.request.body, "model": model}
    if asks_usage(call) and not (manner and Change.NO_USAGE in manner):
        body["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
    if asks_logprobs(call) and not (manner and Change.NO_LOGPROBS in manner):
        body["logprobs"] = True
    if limit_field != "as_sent":
        renamed(body, limit_field)
    if spelling is not None:
        body["messages"] = respelled(body.get("messages"), spelling)
    return _encode(body)


def asks_usage(call: Call) -> bool:
    """Whether a stream's tokens are asked for, for its cost, though the caller did not ask."""
    request = call.request
    return request.stream and not (request.body.get("stream_options") or {}).get("include_usage")


def asks_logprobs(call: Call) -> bool:
    """Whether token probabilities are asked for the judge alone."""
    return call.want_logprobs and not call.request.body.get("logprobs")
