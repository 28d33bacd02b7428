"""Texts as vectors (R70): what is asked, who can do it, and what comes back."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Deadline
from hybridge.core.request import Request
from hybridge.core.response import Usage

Vectors = NDArray[np.float32]
"""Shape `(inputs, dimensions)`, in the order of the inputs."""
TokenIds = tuple[int, ...]


class EmbedderSpec(BackendSpec, frozen=True):
    """What is known of an embedding model before it is asked.

    `model` and `version` name the vector space: vectors of two spaces cannot be compared.
    """

    dimensions: int | None = None
    """Length of its vectors; None: the upstream's own affair."""
    shortens: bool = False
    """Whether a caller may ask for shorter ones (`dimensions`)."""
    languages: frozenset[str] | None = None
    """What it can read, in the words of `routing.language`; None: everything."""
    reads_tokens: bool = False
    """Whether it takes token ids in place of text."""


class EmbeddingRequest(Struct, frozen=True):
    """Texts, or token ids, of which vectors are wanted."""

    request: Request
    """Who asks for which model, and how far it may travel. Its `body` is the JSON object as
    received; there are no messages."""
    inputs: tuple[str, ...] | tuple[TokenIds, ...]
    """Never empty, and none of them is."""
    dimensions: int | None = None
    """Length of the vectors that the caller wants; None: the model's own."""
    listed: bool = True
    """Whether the caller sent an array of inputs, not a single one."""

    def __repr__(self) -> str:
        """Without a word of what was said, for it may end up in a log."""
        return f"EmbeddingRequest({self.request!r}, inputs={len(self.inputs)})"

    @property
    def texts(self) -> tuple[str, ...]:
        """The inputs that are text: all of them, or none."""
        return tuple(one for one in self.inputs if isinstance(one, str))

    def place(self, index: int) -> str:
        """An input as the caller would name it: `input[3]`."""
        return f"input[{index}]" if self.listed else "input"


class EmbeddingCall(Struct, frozen=True):
    """A request put to one embedder."""

    asked: EmbeddingRequest
    deadline: Deadline


class Embedded(Struct, frozen=True):
    """What an embedder answers."""

    vectors: Vectors
    model: str
    """The model's name as the embedder gives it."""
    usage: Usage | None = None
    """None: it does not count."""


class Embedder(Protocol):
    """Edge and cloud alike. `tests/contract/test_embedder.py` is what each must pass.

    `embed` raises `RequestError` for an input that this model cannot take, `BackendError` for any
    failure of its own, and nothing else but cancellation. It never runs longer than the deadline.
    """

    @property
    def spec(self) -> EmbedderSpec: ...

    async def embed(self, call: EmbeddingCall) -> Embedded:
        """One vector for each input, all finite and of one length."""
        ...
