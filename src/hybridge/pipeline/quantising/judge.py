"""What integers cost: the same labelled texts through both models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.core.errors import ConfigError
from hybridge.pipeline.exporting.folder import Kind
from hybridge.pipeline.graph_runner import Rows, cosines
from hybridge.pipeline.texts import Labelled

LOSS_MAX = 1.0
"""Points of accuracy that may be lost (SPEC R57)."""
_TINY = 1e-12


class Figures(Struct, frozen=True):
    """Of one language, or of all texts."""

    texts: int
    fp32: float
    """Accuracy, 0-100."""
    int8: float
    cosine: float
    """Mean cosine of the two models' outputs, text by text."""
    cosine_min: float

    @property
    def loss(self) -> float:
        """Points; negative where INT8 is better."""
        return round(self.fp32 - self.int8, 4)


class Verdict(Struct, frozen=True):
    """The table."""

    test: str
    """What accuracy means here."""
    all: Figures
    languages: Mapping[str, Figures]

    @property
    def loss(self) -> float:
        """Of all texts together: a language alone has too few of them for one point."""
        return self.all.loss

    @property
    def passes(self) -> bool:
        """Whether at most one point is lost."""
        return self.loss <= LOSS_MAX


class Judge:
    """Knows the FP32 model's answers, and holds others against them."""

    def __init__(
        self, kind: Kind, texts: Sequence[Labelled], fp32: Rows, names: Sequence[str]
    ) -> None:
        """`names`: a classifier's labels in the order of its logits; without labels on the texts
        it is held to its own FP32 decisions. Raises `ConfigError`: a label it does not know."""
        self._kind = kind
        self._texts = texts
        self._fp32 = fp32
        self._names = list(names)
        own = kind == "classifier" and texts[0].label is None
        self._truth = fp32.argmax(axis=1) if own else self._labels()
        self._groups = self._languages()
        self._test = _TESTS[kind, own]
        self._hits = self._right(fp32)

    def judge(self, int8: Rows) -> Verdict:
        """The verdict on the other model's outputs of the same texts."""
        hits, alike = self._right(int8), cosines(self._fp32, int8)

        def figures(of: NDArray[np.bool_]) -> Figures:
            return Figures(
                texts=int(of.sum()),
                fp32=round(float(self._hits[of].mean()) * 100, 2),
                int8=round(float(hits[of].mean()) * 100, 2),
                cosine=round(float(alike[of].mean()), 4),
                cosine_min=round(float(alike[of].min()), 4),
            )

        everything = np.ones(len(hits), np.bool_)
        groups = self._groups if len(self._groups) > 1 else {}
        return Verdict(
            self._test, figures(everything), {name: figures(of) for name, of in groups.items()}
        )

    def _right(self, rows: Rows) -> NDArray[np.bool_]:
        if self._kind == "classifier":
            return np.asarray(rows.argmax(axis=1) == self._truth)
        right = np.zeros(len(rows), np.bool_)
        for of in self._groups.values():
            right[of] = nearest_class(rows[of], self._truth[of])
        return right

    def _labels(self) -> NDArray[np.int64]:
        told = [text.label or "" for text in self._texts]
        if self._kind == "encoder":
            return np.unique(told, return_inverse=True)[1].astype(np.int64)
        known = {name: place for place, name in enumerate(self._names)}
        known |= {str(place): place for place in range(self._fp32.shape[1])}
        strange = sorted(set(told) - set(known))
        if strange:
            raise ConfigError(
                f"the model does not know the label `{strange[0]}`; it knows: "
                + ", ".join(self._names)
            )
        return np.array([known[label] for label in told], np.int64)

    def _languages(self) -> dict[str, NDArray[np.bool_]]:
        told = np.array([text.language for text in self._texts])
        return {str(name): told == name for name in np.unique(told)}


_TESTS = {
    ("encoder", False): "nearest class of labelled texts, each left out in turn",
    ("classifier", False): "labels of the texts",
    ("classifier", True): "the FP32 model's own decisions, for want of --test",
}


def nearest_class(rows: Rows, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each text is nearest to the mean of its own class, itself left out."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _TINY)
    names, place = np.unique(labels, return_inverse=True)
    member = (place[:, None] == np.arange(len(names))).astype(np.float64)
    sums = member.T @ unit
    own = sums[place] - unit
    close = unit @ (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), _TINY)).T
    lengths = np.maximum(np.linalg.norm(own, axis=1), _TINY)
    close[np.arange(len(rows)), place] = (unit * own).sum(axis=1) / lengths
    return np.asarray(close.argmax(axis=1) == place)
