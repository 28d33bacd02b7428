"""Trains the scorer's head on recorded outcomes of weak and strong models.

    python -m hybridge.pipeline.train --outcomes FOLDER --groups groups.csv.gz \
        --embeddings embeddings.npz --out head.npz

Outcomes are JSON lines {prompt, source, weak_model, strong_model, weak_score 0-1, ...}, one row per
prompt and pair of models, only of sources whose licence allows training. `groups` gives each
prompt's key (first 16 hex digits of the SHA-1 of the stripped prompt) a group of near-duplicates
and a fold: 0-1 test, 2 calibration, 3-9 training. `embeddings` holds `keys` and `x`. Groups never
cross a split; that is checked, not assumed. Target: the weak model fails.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybridge.routing.features import CLIP, NAMES, features
from hybridge.routing.head import CJK_SHARE_MAX, DIMENSIONS
from hybridge.routing.ngrams import BUCKETS, ngrams

Matrix = NDArray[np.float64]

TEST, CALIBRATION, TRAINING = (0, 1), (2,), tuple(range(3, 10))
EMBEDDING_SCALE = 8.0
"""Brings unit vectors of 384 dimensions to the features' size, so that one penalty fits both."""
RIDGE = 2000.0
NGRAM_RIDGE = 60.0
"""N-grams learn what is left over, under a penalty that keeps out what only one source says."""
NGRAM_STEPS = 60
PAIR_WEIGHT_POWER = 0.5
"""A pair of n rows weighs n to the power of this: no benchmark drowns the others."""


@dataclass(frozen=True, slots=True)
class Row:
    """One outcome."""

    key: str
    group: str
    fold: int
    pair: tuple[str, str, str]
    """Source, weak model, strong model."""
    fails: float
    """1 - weak_score."""


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of each prompt, by key."""

    features: Mapping[str, NDArray[np.float32]]
    grams: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float32]]]
    embeddings: Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Linear:
    """A fitted head before its calibration."""

    bias: float
    features: Matrix
    ngrams: Matrix
    embedding: Matrix | None

    def z(self, standard: Matrix, grams: Grams, embeddings: Matrix) -> Matrix:
        """The raw score of each row."""
        z = self.bias + standard @ self.features + grams.dot(self.ngrams)
        return z if self.embedding is None else z + embeddings @ self.embedding


class Grams:
    """A sparse matrix of n-grams, row by row."""

    def __init__(self, rows: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]) -> None:
        self._row = np.repeat(np.arange(len(rows)), [len(b) for b, _ in rows])
        self._column = np.concatenate([b for b, _ in rows])
        self._value = np.concatenate([w for _, w in rows]).astype(float)
        self._count = len(rows)

    def dot(self, weights: Matrix) -> Matrix:
        """Shape `(rows,)`."""
        products = self._value * weights[self._column]
        return np.bincount(self._row, products, minlength=self._count).astype(np.float64)

    def transposed_dot(self, rows: Matrix) -> Matrix:
        """Shape `(BUCKETS,)`."""
        summed = np.bincount(self._column, self._value * rows[self._row], minlength=BUCKETS)
        return summed.astype(np.float64)


def read_outcomes(folder: Path, groups: Path) -> tuple[list[Row], dict[str, str]]:
    """All rows, and each prompt by its key. A prompt without a group is an error."""
    with gzip.open(groups, "rt", newline="") as file:
        split = {r["key"]: (r["group"], int(r["fold"])) for r in csv.DictReader(file)}
    rows: list[Row] = []
    prompts: dict[str, str] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                said = json.loads(line)
                digest = hashlib.sha1(said["prompt"].strip().encode(), usedforsecurity=False)
                key = digest.hexdigest()[:16]
                group, fold = split[key]
                pair = (said["source"], said["weak_model"], said["strong_model"])
                rows.append(Row(key, group, fold, pair, 1.0 - float(said["weak_score"])))
                prompts[key] = said["prompt"]
    return rows, prompts


def check_leakage(rows: Sequence[Row]) -> None:
    """Raises `SystemExit` when a group of near-duplicates lies in two splits."""
    splits = {fold: name for name, folds in enumerate((TEST, CALIBRATION, TRAINING)) for fold in folds}
    seen: dict[str, int] = {}
    for row in rows:
        if seen.setdefault(row.group, splits[row.fold]) != splits[row.fold]:
            raise SystemExit(f"leak: group {row.group} lies in two splits")


def describe(prompts: Mapping[str, str], embeddings: Path) -> Table:
    """Features, n-grams and embeddings of every prompt. A missing embedding is a row of zeros."""
    with np.load(embeddings) as data:
        known = dict(zip(data["keys"].tolist(), data["x"].astype(np.float32), strict=True))
    nothing = np.zeros(DIMENSIONS, np.float32)
    cjk = NAMES.index("cjk_share")
    said = {key: features(text) for key, text in prompts.items()}
    return Table(
        said,
        {key: ngrams(text) for key, text in prompts.items()},
        {k: known.get(k, nothing) if said[k][cjk] <= CJK_SHARE_MAX else nothing for k in prompts},
    )


def fit(rows: Sequence[Row], table: Table, mean: Matrix, deviation: Matrix, *, full: bool) -> Linear:
    """Ridge regression of the failures within each pair, then n-grams on what it leaves over."""
    standard, grams, embeddings = design(rows, table, mean, deviation)
    target, weights = np.array([row.fails for row in rows]), _weights(rows)
    dense = np.hstack([standard, EMBEDDING_SCALE * embeddings]) if full else standard
    centred, wanted = _centred(rows, dense), _centred(rows, target)
    normal = centred.T @ (weights[:, None] * centred) + RIDGE * np.eye(dense.shape[1])
    solved = np.linalg.solve(normal, centred.T @ (weights * wanted)).astype(np.float64)
    left = wanted - centred @ solved
    learned = _fit_ngrams(grams, left, weights)
    embedding = EMBEDDING_SCALE * solved[len(NAMES) :] if full else None
    bias = float(np.average(target - dense @ solved, weights=weights))
    return Linear(bias, solved[: len(NAMES)], learned, embedding)


def design(
    rows: Sequence[Row], table: Table, mean: Matrix, deviation: Matrix
) -> tuple[Matrix, Grams, Matrix]:
    """Standardised features `(n, features)`, n-grams, and embeddings `(n, 384)` of the rows."""
    raw = np.array([table.features[row.key] for row in rows], float)
    embeddings = np.array([table.embeddings[row.key] for row in rows], float)
    standard = np.clip((raw - mean) / deviation, -CLIP, CLIP)
    return standard, Grams([table.grams[row.key] for row in rows]), embeddings


def calibrate(z: Matrix, fails: Matrix, weights: Matrix) -> tuple[float, float]:
    """Slope and offset of the logistic that fits best (Platt 1999), by Newton's method."""
    x = np.column_stack([z, np.ones_like(z)])
    w = np.array([4.0, -2.0])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-x @ w))
        gradient = x.T @ (weights * (p - fails))
        hessian = x.T @ (x * (weights * p * (1 - p))[:, None]) + 1e-6 * np.eye(2)
        w -= np.linalg.solve(hessian, gradient)
    return float(w[0]), float(w[1])


def calibration_error(p: Matrix, fails: Matrix, bins: int = 10) -> float:
    """ECE over equally wide bins (Guo et al. 2017)."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    return float(
        sum(
            abs(p[place == b].mean() - fails[place == b].mean()) * np.mean(place == b)
            for b in range(bins)
            if np.any(place == b)
        )
    )


def _fit_ngrams(grams: Grams, left: Matrix, weights: Matrix) -> Matrix:
    """Conjugate gradients on the ridge's normal equations."""
    learned = np.zeros(BUCKETS)
    residual = grams.transposed_dot(weights * left)
    direction, norm = residual.copy(), float(residual @ residual)
    for _ in range(NGRAM_STEPS):
        if norm < 1e-12:
            break
        applied = grams.transposed_dot(weights * grams.dot(direction)) + NGRAM_RIDGE * direction
        step = norm / float(direction @ applied)
        learned += step * direction
        residual -= step * applied
        norm, before = float(residual @ residual), norm
        direction = residual + norm / before * direction
    return learned


def _weights(rows: Sequence[Row]) -> Matrix:
    """A row's weight, so that its pair as a whole weighs `n ** PAIR_WEIGHT_POWER`, times 60."""
    sizes: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in rows:
        sizes[row.pair] += 1
    return np.array([60.0 * sizes[row.pair] ** (PAIR_WEIGHT_POWER - 1.0) for row in rows])


def _centred(rows: Sequence[Row], values: Matrix) -> Matrix:
    """Values less their pair's mean: how hard a pair is as a whole is not the prompt's doing."""
    out = np.array(values, float)
    for places in _by_pair(rows):
        out[places] -= out[places].mean(axis=0)
    return out


def _by_pair(rows: Sequence[Row]) -> Iterator[list[int]]:
    places: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[row.pair].append(place)
    yield from places.values()


def main() -> None:
    """The command: trains on folds 3-9, calibrates on 2, measures on 0-1, writes the head."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--outcomes", "--groups", "--embeddings", "--out"):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args()
    rows, prompts = read_outcomes(arguments.outcomes, arguments.groups)
    check_leakage(rows)
    table = describe(prompts, arguments.embeddings)
    arrays = train(rows, table)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    arguments.out.write_bytes(buffer.getvalue())
    print(f"{arguments.out}: {len(buffer.getvalue()) / 1e3:.0f} kB", file=sys.stderr)


def train(rows: Sequence[Row], table: Table) -> dict[str, NDArray[np.float32]]:
    """The arrays of `routing.head.Head`; prints the calibration error on the test folds."""
    fold = np.array([row.fold for row in rows])
    parts = [
        [row for row, chosen in zip(rows, np.isin(fold, folds), strict=True) if chosen]
        for folds in (TRAINING, CALIBRATION, TEST)
    ]
    raw = np.array([table.features[row.key] for row in parts[0]], float)
    mean, deviation = raw.mean(axis=0), raw.std(axis=0) + 1e-6
    arrays: dict[str, NDArray[np.float32]] = {
        "mean": mean.astype(np.float32),
        "deviation": deviation.astype(np.float32),
    }
    for name in ("text", "full"):
        linear = fit(parts[0], table, mean, deviation, full=name == "full")
        fails = [np.array([row.fails for row in part]) for part in parts]
        zs = [linear.z(*design(part, table, mean, deviation)) for part in parts]
        slope, offset = calibrate(zs[1], fails[1], _weights(parts[1]))
        p = 1.0 / (1.0 + np.exp(-(slope * zs[2] + offset)))
        print(f"{name}: ECE on the test folds {calibration_error(p, fails[2]):.3f}", file=sys.stderr)
        arrays[f"{name}_scalars"] = np.array([linear.bias, slope, offset], np.float32)
        arrays[f"{name}_features"] = linear.features.astype(np.float32)
        arrays[f"{name}_ngrams"] = linear.ngrams.astype(np.float32)
        if linear.embedding is not None:
            arrays["full_embedding"] = linear.embedding.astype(np.float32)
    return arrays


if __name__ == "__main__":
    main()
