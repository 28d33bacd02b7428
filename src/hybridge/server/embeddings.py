"""`POST /v1/embeddings` (R70): the story of one request for vectors.

Format: https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from hybridge.core.embedding import EmbeddingRequest, TokenIds, Vectors
from hybridge.core.errors import RequestError
from hybridge.core.report import Report
from hybridge.core.request import AUTO, Request
from hybridge.core.response import Usage
from hybridge.server.drain import Drain
from hybridge.server.exchange import Exchange, Response
from hybridge.server.intake import Intake
from hybridge.server.report import as_headers, as_json
from hybridge.server.shapes.forms import (
    COUNT,
    TEXT,
    Form,
    check,
    is_text,
    one_of,
    properties,
    wrong,
)
from hybridge.server.shapes.shape import Asker
from hybridge.server.tracing import read_traceparent
from hybridge.server.wishes import read_wish

PATH = "/v1/embeddings"
MOST_INPUTS = 2048
"""OpenAI's own limit."""
FORMS: Mapping[str, Form] = {
    "model": TEXT,
    "encoding_format": one_of("float", "base64"),
    "dimensions": COUNT,
    "user": TEXT,
}
"""Field, and what it may look like; `input` is read by itself. Unknown fields are not looked at."""
_SOME_TEXT = {"type": "string", "pattern": "\\S"}
_TOKEN_IDS = {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}}
REQUEST: Mapping[str, Any] = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {
            "anyOf": [
                _SOME_TEXT,
                {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MOST_INPUTS,
                    "items": _SOME_TEXT,
                },
                _TOKEN_IDS,
                {"type": "array", "minItems": 1, "maxItems": MOST_INPUTS, "items": _TOKEN_IDS},
            ]
        },
        **properties(FORMS),
    },
}
"""The request as JSON Schema."""
ANSWER: Mapping[str, Any] = {
    "type": "object",
    "required": ["object", "data", "model", "usage"],
    "properties": {
        "object": {"const": "list"},
        "data": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["object", "index", "embedding"],
                "properties": {
                    "object": {"const": "embedding"},
                    "index": {"type": "integer"},
                    "embedding": {"type": ["array", "string"], "items": {"type": "number"}},
                },
            },
        },
        "model": {"type": "string"},
        "usage": {
            "type": "object",
            "required": ["prompt_tokens", "total_tokens"],
            "properties": {
                "prompt_tokens": {"type": "integer"},
                "total_tokens": {"type": "integer"},
            },
        },
        "hybridge": {"$ref": "#/components/schemas/Report"},
    },
}
"""The answer as JSON Schema; a string is the base64 of little-endian float32."""
_INPUT = "a string, or an array of strings, of token ids or of arrays of token ids"
_TURN = 64
"""Vectors that are written in one turn of the event loop."""


class EmbeddingReply(Protocol):
    """What a gateway answers."""

    @property
    def vectors(self) -> Vectors: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def report(self) -> Report: ...


class EmbeddingPort(Protocol):
    """What this endpoint needs of a gateway; `hybridge.gateway.embedding.EmbeddingGateway`."""

    async def embed(self, asked: EmbeddingRequest) -> EmbeddingReply:
        """Raises `HybridgeError`."""
        ...


class Embeddings:
    """Reads the request, lets the gateway serve it, writes the vectors."""

    def __init__(self, gateway: EmbeddingPort, intake: Intake, drain: Drain) -> None:
        self._gateway = gateway
        self._intake = intake
        self._drain = drain

    async def create(self, exchange: Exchange) -> None:
        """Answers with one vector for each input, in their order. Raises `HybridgeError`."""
        with self._drain.admit(exchange) as line:
            asked = read(*await self._intake.read(exchange))
            line.answer()
            reply = await self._gateway.embed(asked)
            report = reply.report
            told = as_json(report) if self._intake.terms.report_in_body else None
            compact = asked.request.body.get("encoding_format") == "base64"
            answer = await write(reply, told, compact=compact)
            await exchange.respond(Response(200, answer, as_headers(report)))


def read(said: dict[str, Any], asker: Asker) -> EmbeddingRequest:
    """The request. A missing `model` means `auto`. Raises `RequestError` that names the field."""
    check(said, FORMS)
    inputs, listed = _inputs(said.get("input"))
    request = Request(
        id=asker.id,
        model=said.get("model") or AUTO,
        messages=(),
        body=said,
        tenant=asker.tenant,
        wish=read_wish(asker.headers),
        received_s=asker.received_s,
        traceparent=read_traceparent(asker.headers),
    )
    return EmbeddingRequest(request, inputs, said.get("dimensions"), listed)


async def write(reply: EmbeddingReply, report: bytes | None, *, compact: bool) -> bytes:
    """OpenAI's list of embeddings, with the `hybridge` object where there is a report.

    `compact`: each as the base64 of little-endian float32, else as numbers.
    """
    encode = _base64 if compact else _floats
    pieces, last = [b'{"object":"list","data":['], len(reply.vectors) - 1
    for index, vector in enumerate(reply.vectors):
        pieces += (
            b'{"object":"embedding","index":%d,"embedding":' % index,
            encode(vector),
            b"}" if index == last else b"},",
        )
        if index % _TURN == _TURN - 1:
            await asyncio.sleep(0)  # a thousand vectors take a while
    tokens = reply.usage.prompt_tokens
    pieces += (
        b'],"model":',
        msgspec.json.encode(reply.report.model),
        b',"usage":{"prompt_tokens":%d,"total_tokens":%d}' % (tokens, tokens),
    )
    if report is not None:
        pieces += (b',"hybridge":', report)
    pieces.append(b"}")
    return b"".join(pieces)


def _base64(vector: Any) -> bytes:
    return b'"%b"' % base64.b64encode(vector.astype("<f4").tobytes())


def _floats(vector: Any) -> bytes:
    """Each float32 as exactly the number that it is."""
    return msgspec.json.encode(vector.tolist())


def _inputs(value: Any) -> tuple[tuple[str, ...] | tuple[TokenIds, ...], bool]:
    """The inputs, and whether they came as an array. Raises `RequestError`."""
    if is_text(value):
        return (_text(value, "input"),), False
    if not isinstance(value, list) or not value:
        raise wrong("input", _INPUT, value)
    if type(value[0]) is int:
        return (_token_ids(value, "input"),), False
    if len(value) > MOST_INPUTS:
        raise RequestError(
            f"`input` holds {len(value)} inputs; {MOST_INPUTS} are allowed at once: send the rest "
            "in further requests",
            param="input",
            code="too_many_inputs",
        )
    if is_text(value[0]):
        return tuple(_text(one, f"input[{i}]") for i, one in enumerate(value)), True
    return tuple(_token_ids(one, f"input[{i}]") for i, one in enumerate(value)), True


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise wrong(place, "a string like the first one", value)
    if not value or value.isspace():
        raise RequestError(f"`{place}` is empty", param=place, code="empty_input")
    return value


def _token_ids(value: Any, place: str) -> TokenIds:
    if not isinstance(value, list):
        raise wrong(place, _INPUT if place == "input[0]" else "an array of token ids", value)
    if not value:
        raise RequestError(f"`{place}` is empty", param=place, code="empty_input")
    if set(map(type, value)) != {int} or min(value) < 0:  # both at the speed of C
        index, token = next((i, t) for i, t in enumerate(value) if type(t) is not int or t < 0)
        raise wrong(f"{place}[{index}]", "a token id, a whole number from 0", token)
    return tuple(value)
