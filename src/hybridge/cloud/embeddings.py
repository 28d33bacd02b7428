"""Embeddings of any server that speaks OpenAI's format: a provider far away, or Ollama next door.

Format: https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from hybridge.cloud import faults
from hybridge.cloud.classified import Classified
from hybridge.cloud.tolerance import may_be_the_manner
from hybridge.cloud.transport import Transport
from hybridge.core import wire
from hybridge.core.embedding import Embedded, EmbedderSpec, EmbeddingCall, Vectors
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.response import Usage

PATH = "/embeddings"
_BASE64 = "base64"
_TURN = 64
"""Vectors that are read in one turn of the event loop."""
_FLOATS = msgspec.json.Decoder(list[float])
_TEXT = msgspec.json.Decoder(str)


class _Row(msgspec.Struct):
    embedding: msgspec.Raw
    index: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    total_tokens: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Row] | None = None
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


_answer = msgspec.json.Decoder(_Answer)


class OpenAIEmbedder:
    """Implements `core.embedding.Embedder` over HTTP, for both tiers."""

    def __init__(
        self,
        spec: EmbedderSpec,
        transport: Transport,
        *,
        batch: int,
        dimensions: int | None,
        redact: Redactor,
    ) -> None:
        """`batch`: inputs sent at once. `dimensions`: asked for where the caller names none."""
        self._spec = spec
        self._transport = transport
        self._batch = batch
        self._dimensions = dimensions
        self._redact = redact
        self._classified = Classified(spec.name, redact)
        self._base64_refused = False

    @property
    def spec(self) -> EmbedderSpec:
        return self._spec

    async def embed(self, call: EmbeddingCall) -> Embedded:
        """See `Embedder`. The body goes out as it came, under the upstream's model name."""
        inputs, answers = call.asked.inputs, list[Embedded]()
        for start in range(0, len(inputs), self._batch):
            answers.append(await self._some(call, inputs[start : start + self._batch]))
        lengths = {answer.vectors.shape[1] for answer in answers}
        wanted = call.asked.dimensions or self._dimensions
        if wanted is not None and lengths != {wanted}:
            raise self._wrong_length(wanted, lengths)
        if len(lengths) > 1:
            what = f"{self._spec.name}: gave vectors of different lengths"
            raise BackendError(what, backend=self._spec.name, fault=Fault.PROTOCOL)
        if len(answers) == 1:
            return answers[0]
        vectors = np.concatenate([answer.vectors for answer in answers])
        return Embedded(vectors, answers[0].model, _sum([answer.usage for answer in answers]))

    async def _some(self, call: EmbeddingCall, inputs: Sequence[Any]) -> Embedded:
        """Vectors of one batch. Base64 is asked for where the caller did, and not again of a
        server that refused it."""
        asks_base64 = call.asked.request.body.get("encoding_format") == _BASE64
        compact = asks_base64 and not self._base64_refused
        try:
            return await self._post(call, inputs, compact=compact)
        except BackendError as error:
            if not compact or not may_be_the_manner(error):
                raise
            embedded = await self._post(call, inputs, compact=False)
        self._base64_refused = True
        return embedded

    async def _post(self, call: EmbeddingCall, inputs: Sequence[Any], *, compact: bool) -> Embedded:
        body = self._body(call, inputs, compact=compact)
        with self._classified:
            reply = await self._transport.post(PATH, body, call.deadline)
            if reply.status != 200:
                raise faults.of_response(
                    self._spec.name, reply.status, reply.headers, reply.body, self._redact
                )
            answer = _read(reply.body)
            vectors = await _vectors(answer.data or (), len(inputs))
        return Embedded(vectors, answer.model or self._spec.model, _usage(answer.usage))

    def _body(self, call: EmbeddingCall, inputs: Sequence[Any], *, compact: bool) -> bytes:
        body: dict[str, Any] = {**call.asked.request.body, "model": self._spec.model}
        if len(inputs) != len(call.asked.inputs):
            body["input"] = inputs
        if not compact:
            body.pop("encoding_format", None)
        if body.get("dimensions") is None and self._dimensions is not None:
            body["dimensions"] = self._dimensions
        return msgspec.json.encode(body)

    def _wrong_length(self, wanted: int, lengths: set[int]) -> BackendError:
        """An upstream that passes over `dimensions` must not be passed on as if it had obeyed."""
        name, found = self._spec.name, ", ".join(map(str, sorted(lengths)))
        message = f"{name} gave {found} dimensions where {wanted} were asked for"
        told = {"message": message, "param": "dimensions", "code": "dimensions_not_possible"}
        return BackendError(message, backend=name, fault=Fault.UNABLE, body=told)


def _read(body: bytes) -> _Answer:
    try:
        answer = _answer.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise wire.Malformed("it is not a list of embeddings") from error
    if answer.error:
        raise wire.ErrorInBand(wire.error_object(answer.error))
    return answer


async def _vectors(rows: Sequence[_Row], wanted: int) -> Vectors:
    """The rows in the order of the inputs. Raises `Malformed` for anything that is not exactly one
    finite vector for each."""
    if len(rows) != wanted:
        raise wire.Malformed(f"{len(rows)} vectors came for {wanted} inputs")
    found: list[Any] = [None] * wanted
    for position, row in enumerate(rows):
        index = position if row.index is None else row.index
        if not 0 <= index < wanted or found[index] is not None:
            raise wire.Malformed("its indexes are not those of the inputs")
        found[index] = _vector(bytes(row.embedding))
        if position % _TURN == _TURN - 1:
            await asyncio.sleep(0)  # a large answer takes a while
    if len({len(vector) for vector in found}) != 1 or not len(found[0]):
        raise wire.Malformed("its vectors differ in length")
    vectors = np.stack(found)
    if not np.isfinite(vectors).all():
        raise wire.Malformed("it holds numbers that are not finite")
    return vectors


def _vector(raw: bytes) -> Any:
    """Numbers, or the base64 of little-endian float32 (what the official SDK asks for)."""
    try:
        if raw.startswith(b'"'):
            packed = base64.b64decode(_TEXT.decode(raw), validate=True)
            return np.frombuffer(packed, "<f4").astype(np.float32)
        return np.array(_FLOATS.decode(raw), np.float32)
    except (msgspec.DecodeError, binascii.Error, ValueError) as error:
        raise wire.Malformed("an embedding is neither numbers nor base64") from error


def _usage(usage: _Usage | None) -> Usage | None:
    tokens = usage and (usage.prompt_tokens or usage.total_tokens)
    return Usage(tokens, 0) if tokens else None


def _sum(usages: Sequence[Usage | None]) -> Usage | None:
    known = [usage.prompt_tokens for usage in usages if usage is not None]
    return Usage(sum(known), 0) if len(known) == len(usages) else None
