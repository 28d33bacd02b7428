"""What differs between the APIs that upstreams speak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from hybridge.cloud.tolerance import Manner
from hybridge.core.backend import Call
from hybridge.core.errors import BackendError
from hybridge.core.response import Chunk, Completion


class NoWord(Exception):
    """An API has no word for what the request asks. Another may."""

    def __init__(self, param: str, what: str) -> None:
        """`param`: the field at fault, in the caller's own vocabulary."""
        super().__init__(f"does not take `{param}`" if what == "it" else f"does not take {what}")
        self.param = param


class Reader(Protocol):
    """Give it a stream's bytes as they come; it gives each chunk that is complete.

    Raises `wire.Malformed`, `wire.ErrorInBand` or `EventTooLarge`, after the chunks before it.
    """

    finished: bool
    """Whether nothing is missing from the answer any more."""
    done: bool
    """Whether the end mark has come; what lies behind it is not read."""

    def feed(self, piece: bytes) -> Iterator[Chunk]:
        """The chunks that `piece` completes."""
        ...

    def close(self) -> Iterator[Chunk]:
        """What is left at the end of the stream."""
        ...


class Dialect(Protocol):
    """From a call to the bytes that one API wants, and from its bytes back to an answer.

    `body` raises `NoWord` for what the API cannot be asked.
    """

    @property
    def path(self) -> str:
        """Where to post, below the `base_url`."""
        ...

    def body(self, call: Call, manner: Manner) -> bytes: ...

    def completion(self, body: bytes, call: Call, manner: Manner) -> Completion:
        """A whole answer. Raises `wire.Malformed` or `wire.ErrorInBand`."""
        ...

    def reader(self, call: Call, manner: Manner) -> Reader: ...

    def alterable(self, call: Call, manner: Manner) -> Manner:
        """The changes, beyond `manner`, that would alter what this call sends."""
        ...

    def suspects(self, error: BackendError, alterable: Manner) -> Sequence[Manner]:
        """Which of them may have been missing when the call was refused, likeliest first."""
        ...
