"""What the gateway and a worker process of `ortgenai` say to each other: framed MessagePack.

Each message is its length, four bytes in network order, and a tagged struct.
"""

from __future__ import annotations

import struct
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

HEAD = struct.Struct("!I")
"""The length of the message that follows."""
Message = TypeVar("Message")


class Load(Struct, frozen=True, tag="load"):
    """The first message: what to load, and with what."""

    folder: str
    """With `genai_config.json` in it."""
    alias: str
    """The model's name in answers."""
    context_tokens: int
    """Of one slot, prompt and answer together."""
    threads: int
    """Compute threads, all slots together."""


class Ask(Struct, frozen=True, tag="ask"):
    """One request, read and checked."""

    number: int
    """Names the request on this connection."""
    messages: str
    """JSON, as the chat template takes it."""
    tools: str | None
    """JSON, as the chat template takes it."""
    max_tokens: int
    temperature: float
    """0: always the most probable token."""
    top_k: int
    """0: all."""
    top_p: float
    min_p: float
    repeat_penalty: float
    """1: none."""
    presence_penalty: float
    frequency_penalty: float
    logit_bias: dict[int, float]
    seed: int | None
    """None: a new one each time."""
    stop: tuple[str, ...]
    logprobs: int | None
    """So many alternatives to each token; None: no probabilities."""
    grammars: tuple[str, ...]
    """The first of these that can be read holds; none of them: it is refused."""
    held_by: str
    """The field that the grammars come from."""
    choices: int


class Stop(Struct, frozen=True, tag="stop"):
    """Nobody waits for this request's answer any more."""

    number: int


class Ready(Struct, frozen=True, tag="ready"):
    """The model is loaded and has computed something."""

    build: str
    """What the library calls itself in answers."""


class Failed(Struct, frozen=True, tag="failed"):
    """The model cannot be loaded; the worker ends."""

    why: str


class Said(Struct, frozen=True, tag="said"):
    """A piece of an answer: a `chat.completion.chunk`, or an error object, or `NEXT_CHOICE`."""

    number: int
    piece: str


class Ended(Struct, frozen=True, tag="ended"):
    """Nothing more comes for this request, and nothing is computed for it."""

    number: int
    param: str | None = None
    """Where the request was refused: the field at fault."""
    why: str | None = None
    """Where the request was refused, or failed."""
    code: str = "invalid_value"


ToWorker = Load | Ask | Stop
ToGateway = Ready | Failed | Said | Ended
_encoder = msgspec.msgpack.Encoder()


def framed(message: ToWorker | ToGateway) -> bytes:
    """The message as it goes over the connection."""
    body = _encoder.encode(message)
    return HEAD.pack(len(body)) + body


class Frames(Generic[Message]):
    """Finds the messages in bytes as they come."""

    def __init__(self, kind: object) -> None:
        """`kind` is the union of the messages that may come."""
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(kind)
        self._left = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are whole by now."""
        self._left += data
        found: list[Message] = []
        place = 0
        while len(self._left) - place >= HEAD.size:
            (length,) = HEAD.unpack_from(self._left, place)
            end = place + HEAD.size + length
            if len(self._left) < end:
                break
            found.append(self._decoder.decode(memoryview(self._left)[place + HEAD.size : end]))
            place = end
        del self._left[:place]
        return found
