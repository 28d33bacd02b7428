"""What the adapter sees of a prompt: a vector of fixed size that may be kept beside a comparison.

It holds numbers about a text and no text (R33): the prior's word, the features, the embedding, and
a signed random projection of the words (count sketch, Charikar et al. 2002) in their place.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hybridge.learning.wordgrams import SKETCH, sketch
from hybridge.routing.features import CLIP, NAMES
from hybridge.routing.head import DIMENSIONS, Vector, Wording

PRIOR = 0
"""Place of the prior's log-odds."""
LENGTH = 1 + NAMES.index("log_chars")
"""Place of the standardised log length."""
FEATURES = slice(1, 1 + len(NAMES))
EMBEDDING = slice(FEATURES.stop, FEATURES.stop + DIMENSIONS)
PROJECTED = slice(EMBEDDING.stop, EMBEDDING.stop + SKETCH)
SIZE = PROJECTED.stop

_LAYOUT = np.uint8(2)
"""First byte of a packed view; another one is of another release."""
_MOST = 127.0
_HEAD = np.dtype([("layout", "u1"), ("prior", "<f4"), ("scales", "<f4", 2)])
BYTES = _HEAD.itemsize + SIZE - 1


class Standard(Protocol):
    """What a head says about how its texts are put into numbers."""

    @property
    def mean(self) -> Vector: ...

    @property
    def deviation(self) -> Vector: ...


def view(head: Standard, said: Wording, embedding: Vector | None, p: float) -> Vector:
    """The view of one text, shape `(SIZE,)`; without an embedding its place is all zero.

    `p`: what the prior says of the text, 0-1.
    """
    seen = np.zeros(SIZE, np.float32)
    seen[PRIOR] = log_odds(p)
    seen[FEATURES] = np.clip((said.features - head.mean) / head.deviation, -CLIP, CLIP)
    if embedding is not None:
        seen[EMBEDDING] = embedding
    seen[PROJECTED] = sketch(said.text)
    return seen


def log_odds(p: float) -> float:
    """Of a probability, between -30 and 30."""
    return float(np.clip(np.log(max(p, 1e-13)) - np.log(max(1.0 - p, 1e-13)), -30.0, 30.0))


def pack(seen: Vector) -> bytes:
    """A view in `BYTES` bytes: 8 bits a number, the prior's word as it is."""
    scales = [float(np.abs(seen[part]).max()) or 1.0 for part in (EMBEDDING, PROJECTED)]
    header = np.array((_LAYOUT, seen[PRIOR], scales), _HEAD)
    whole = np.concatenate(
        [
            seen[FEATURES] / CLIP,
            seen[EMBEDDING] / np.float32(scales[0]),
            seen[PROJECTED] / np.float32(scales[1]),
        ]
    )
    return header.tobytes() + np.rint(whole * _MOST).astype(np.int8).tobytes()


def unpack(packed: bytes) -> Vector:
    """The view, as exact as 8 bits are. Raises `ValueError` for one of another make."""
    if len(packed) != BYTES or packed[0] != _LAYOUT:
        raise ValueError("a view of another release")
    header = np.frombuffer(packed, _HEAD, count=1)[0]
    seen = np.empty(SIZE, np.float32)
    seen[PRIOR] = header["prior"]
    seen[1:] = np.frombuffer(packed, np.int8, offset=_HEAD.itemsize) / _MOST
    seen[FEATURES] *= CLIP
    seen[EMBEDDING] *= header["scales"][0]
    seen[PROJECTED] *= header["scales"][1]
    if not np.isfinite(seen).all():
        raise ValueError("a view that is broken")
    return seen
