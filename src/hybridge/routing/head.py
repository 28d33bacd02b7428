"""The trained head of the scorer: from features, n-grams and an embedding to a probability (R2).

One file holds two linear heads with a calibration each: `text` needs nothing but the text, `full`
adds the sentence embedding. Both say the calibrated probability that a small model's answer is not
good enough. Model card: `assets/head.card.md`.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hybridge.core.errors import ModelError
from hybridge.routing.features import CLIP, NAMES, WORDS, features
from hybridge.routing.ngrams import BUCKETS, ngrams

Vector = NDArray[np.float32]

SHIPPED = Path(__file__).parent / "assets" / "head.npz"
DIMENSIONS = 384
"""Of the sentence embedding."""
CJK_SHARE_MAX = 0.15
"""Above this share of Chinese characters the encoder reads mostly unknown tokens: its vector is
given no weight."""
STRONGEST = 3
"""How many signals a score names."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One linear head: `z = bias + f·features + n·ngrams + e·embedding`, then `p = σ(a z + b)`."""

    bias: float
    features: Vector
    """Shape `(len(NAMES),)`, for standardised features."""
    ngrams: Vector
    """Shape `(BUCKETS,)`."""
    embedding: Vector | None
    """Shape `(384,)`; None in the text head."""
    slope: float
    offset: float
    """Calibration (Platt 1999)."""

    def probability(self, z: float) -> float:
        """0-1."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.slope * z + self.offset, -30, 30))))


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the head says of one text."""

    p: float
    reasons: tuple[str, ...]
    used_embedding: bool


@dataclass(frozen=True, slots=True)
class Head:
    """Both heads, and what standardises the features."""

    mean: Vector
    deviation: Vector
    text: Weights
    full: Weights
    version: str
    """`prior-` and the beginning of the file's SHA-256."""

    @classmethod
    def shipped(cls) -> Self:
        """The one in this package."""
        return cls.load(SHIPPED)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a head that `hybridge.pipeline.train` wrote. Raises `ModelError` with the path."""
        try:
            raw = path.read_bytes()
            with np.load(io.BytesIO(raw), allow_pickle=False) as data:
                arrays = {name: np.asarray(data[name], np.float32) for name in data.files}
            mean, deviation = arrays["mean"], arrays["deviation"]
            text, full = (_weights(arrays, name) for name in ("text", "full"))
        except (OSError, KeyError, ValueError) as error:
            raise ModelError(f"{path} is not a scorer head: {error}") from error
        if mean.shape != (len(NAMES),) or full.embedding is None:
            raise ModelError(f"{path} was trained for other features; train it anew")
        digest = hashlib.sha256(raw).hexdigest()[:12]
        return cls(mean, deviation, text, full, f"prior-{digest}")

    def predict(self, text: str, embedding: Vector | None) -> Prediction:
        """The probability that a small model's answer to `text` is not good enough, and why."""
        raw = features(text)
        usable = embedding is not None and raw[NAMES.index("cjk_share")] <= CJK_SHARE_MAX
        head = self.full if usable else self.text
        standard = np.clip((raw - self.mean) / self.deviation, -CLIP, CLIP)
        contributions = standard * head.features
        buckets, weights = ngrams(text)
        z = head.bias + float(contributions.sum()) + float(head.ngrams[buckets] @ weights)
        if usable and head.embedding is not None and embedding is not None:
            z += float(embedding @ head.embedding)
        reasons = _reasons(contributions * head.slope, raw)
        return Prediction(head.probability(z), reasons, usable)


def _weights(arrays: dict[str, Vector], name: str) -> Weights:
    bias, slope, offset = (float(x) for x in arrays[f"{name}_scalars"])
    return Weights(
        bias,
        _shaped(arrays[f"{name}_features"], len(NAMES)),
        _shaped(arrays[f"{name}_ngrams"], BUCKETS),
        _shaped(arrays["full_embedding"], DIMENSIONS) if name == "full" else None,
        slope,
        offset,
    )


def _shaped(array: Vector, size: int) -> Vector:
    if array.shape != (size,):
        raise ValueError(f"an array of shape {array.shape} where ({size},) belongs")
    return array


def _reasons(contributions: Vector, raw: Vector) -> tuple[str, ...]:
    """The strongest signals that are there, with their direction: `+` towards the cloud."""
    strength = np.where(raw > 0, np.abs(contributions), 0.0)
    strongest = np.argsort(-strength, kind="stable")[:STRONGEST]
    return tuple(
        f"{WORDS[i]} ({'+' if contributions[i] > 0 else '-'})" for i in strongest if strength[i]
    )
