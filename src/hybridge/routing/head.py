"""The trained head of the scorer: from features, n-grams and an embedding to a probability (R2).

One file holds two linear heads with a calibration each: `text` needs nothing but the text, `full`
adds the sentence embedding. Both say the calibrated probability that a small model's answer is not
good enough. Model card: `assets/head.card.json`.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.core.errors import ModelError
from hybridge.routing.features import CLIP, NAMES, features, window
from hybridge.routing.ngrams import BUCKETS, ngrams
from hybridge.routing.reasons import Contributions, reasons

Vector = NDArray[np.float32]

SHIPPED = Path(__file__).parent / "assets" / "head.npz"
DIMENSIONS = 384
"""Of the sentence embedding."""
CHINESE_SHARE = 0.15
"""Above this share of Chinese characters a text is calibrated as a Chinese one."""


_CJK = NAMES.index("cjk_share")


class Weights(Struct, frozen=True):
    """One linear head, `z = bias + f·features + n·ngrams + e·embedding`, then `p = σ(a z + b)`."""

    bias: float
    features: Vector
    """Shape `(len(NAMES),)`, for standardised features."""
    ngrams: Vector
    """Shape `(BUCKETS,)`."""
    embedding: Vector | None
    """Shape `(384,)`; None in the text head."""
    latin: tuple[float, float]
    """Slope and offset of the calibration (Platt 1999)."""
    chinese: tuple[float, float]
    """The same for texts with a notable share of Chinese characters."""
    usual_ngrams: float
    """What n-grams add to z on average over the training prompts; reasons tell the difference."""
    usual_embedding: float
    """The same of the embedding."""

    def probability(self, z: float, *, chinese: bool) -> float:
        """0-1."""
        slope, offset = self.chinese if chinese else self.latin
        logit = min(30.0, max(-30.0, slope * z + offset))
        return float(1.0 / (1.0 + np.exp(-logit)))


class Wording(Struct, frozen=True):
    """What the text alone tells: all that the text head looks at."""

    features: Vector
    """Shape `(len(NAMES),)`."""
    buckets: NDArray[np.int64]
    weights: Vector
    """`ngrams`."""
    text: str
    """The part of it that is read."""


class Prediction(Struct, frozen=True):
    """What the head says of one text."""

    p: float
    reasons: tuple[str, ...]
    used_embedding: bool


class Head(Struct, frozen=True):
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
            version = f"prior-{hashlib.sha256(raw).hexdigest()[:12]}"
            return cls(*_parts(raw), version=version)
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise ModelError(f"{path} is not a scorer head of this version: {error}") from error

    def predict(self, text: str, embedding: Vector | None, *, context_chars: int = 0) -> Prediction:
        """The probability that a small model's answer to `text` is not good enough, and why.

        `embedding`: of the text, shape `(384,)`, unit length.
        `context_chars`: length of the conversation before it.
        """
        return self.judge(read(text, context_chars), embedding)

    def judge(self, said: Wording, embedding: Vector | None) -> Prediction:
        """The same of a text that has been read already: nothing is left but to add up."""
        raw = said.features
        head = self.text if embedding is None else self.full
        # `np.clip` takes longer to call than the 35 numbers take.
        standard = np.minimum(np.maximum((raw - self.mean) / self.deviation, -CLIP), CLIP)
        wording = float(head.ngrams[said.buckets] @ said.weights)
        topic = 0.0
        if embedding is not None and head.embedding is not None:
            topic = float(embedding @ head.embedding)
        by_feature = standard * head.features
        chinese = bool(raw[_CJK] > CHINESE_SHARE)
        slope = (head.chinese if chinese else head.latin)[0]
        told = Contributions(
            high=raw > self.mean,
            features=by_feature * slope,
            wording=(wording - head.usual_ngrams) * slope,
            topic=(topic - head.usual_embedding) * slope,
        )
        z = head.bias + float(by_feature.sum()) + wording + topic
        return Prediction(
            head.probability(z, chinese=chinese), reasons(told), embedding is not None
        )


def read(text: str, context_chars: int = 0) -> Wording:
    """What needs no encoder, and can be read while it works."""
    buckets, weights = ngrams(text)
    return Wording(features(text, context_chars), buckets, weights, window(text))


def _parts(raw: bytes) -> tuple[Vector, Vector, Weights, Weights]:
    with np.load(io.BytesIO(raw), allow_pickle=False) as data:
        arrays = {name: np.asarray(data[name], np.float32) for name in data.files}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("it holds numbers that are not finite")
    size = len(NAMES)
    mean, deviation = _shaped(arrays["mean"], size), _shaped(arrays["deviation"], size)
    return mean, deviation, _weights(arrays, "text"), _weights(arrays, "full")


def _weights(arrays: dict[str, Vector], name: str) -> Weights:
    bias, usual_ngrams, usual_embedding = (float(x) for x in _shaped(arrays[f"{name}_scalars"], 3))
    calibrations = _shaped(arrays[f"{name}_calibrations"].ravel(), 4).tolist()
    return Weights(
        bias,
        _shaped(arrays[f"{name}_features"], len(NAMES)),
        _shaped(arrays[f"{name}_ngrams"], BUCKETS),
        _shaped(arrays["full_embedding"], DIMENSIONS) if name == "full" else None,
        (calibrations[0], calibrations[1]),
        (calibrations[2], calibrations[3]),
        usual_ngrams,
        usual_embedding,
    )


def _shaped(array: Vector, size: int) -> Vector:
    if array.shape != (size,):
        raise ValueError(f"an array of shape {array.shape} where ({size},) belongs")
    return array
