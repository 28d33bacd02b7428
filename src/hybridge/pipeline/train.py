r"""Trains the scorer's head on recorded outcomes of weak and strong models.

    python -m hybridge.pipeline.train --outcomes FOLDER --groups groups.csv.gz \
        --embeddings embeddings.npz --own answers.jsonl --out head.npz

`groups` gives each prompt's key a group of near-duplicates and a fold: 0-1 test, 2 calibration, 3-9
training. Groups never cross a split, and no source without a licence for training is read: both are
checked, not assumed. Target: the weak model fails. Writes the head and, beside it, its model card.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridge.pipeline import measures, outcomes
from hybridge.pipeline.design import Array, Design, Table
from hybridge.pipeline.outcomes import CALIBRATION, LICENCES, SMALL_MODELS, TEST, TRAINING, Row
from hybridge.pipeline.ridge import Linear, fit

MEANING = (
    "p: probability that a language model of 0.5 to 4 billion parameters fails on this prompt, "
    "calibrated on benchmark prompts and short everyday questions; the score is 1 + 9 p"
)
LIMITS = (
    "Nearly all training prompts are English benchmarks; Chinese is carried by text features.",
    "A prompt alone tells little outside the training sources; recorded comparisons tell more.",
    "Levels move with the edge model: a stronger one fails less at every score.",
)


@dataclass(frozen=True, slots=True)
class Trained:
    """One head with its calibration, and what it says of the test folds."""

    linear: Linear
    slope: float
    offset: float
    usual_ngrams: float
    usual_embedding: float
    measured: Mapping[str, float]

    def arrays(self, name: str) -> dict[str, NDArray[np.float32]]:
        """As `routing.head.Head` reads them."""
        scalars = (
            self.linear.bias, self.slope, self.offset, self.usual_ngrams, self.usual_embedding,
        )  # fmt: skip
        arrays = {"scalars": np.array(scalars), "features": self.linear.features}
        arrays["ngrams"] = self.linear.ngrams
        if self.linear.embedding is not None:
            arrays["embedding"] = self.linear.embedding
        return {f"{name}_{part}": array.astype(np.float32) for part, array in arrays.items()}


def train(
    rows: Sequence[Row], table: Table
) -> tuple[dict[str, NDArray[np.float32]], dict[str, Any]]:
    """The arrays of a head, and its card."""
    outcomes.check_leakage(rows)
    mean, deviation = table.scale_of(outcomes.in_folds(rows, TRAINING))
    arrays = {"mean": mean.astype(np.float32), "deviation": deviation.astype(np.float32)}
    heads = {
        name: _train(rows, table, (mean, deviation), full=name == "full")
        for name in ("text", "full")
    }
    for name, head in heads.items():
        arrays |= head.arrays(name)
    return arrays, _card(rows, {name: head.measured for name, head in heads.items()})


def _train(rows: Sequence[Row], table: Table, scale: tuple[Array, Array], *, full: bool) -> Trained:
    """Fits on the training folds, calibrates on small models, measures on the test folds."""
    taught = Design.of(outcomes.in_folds(rows, TRAINING), table, *scale)
    linear = fit(taught, full=full)
    small = [row for row in rows if row.weak in SMALL_MODELS]
    calibration = Design.of(outcomes.in_folds(small, CALIBRATION), table, *scale)
    slope, offset = measures.platt(linear.z(calibration), calibration.fails, calibration.weights)
    tested = Design.of(outcomes.in_folds(small, TEST), table, *scale)
    z = linear.z(tested)
    p = measures.logistic(z, slope, offset)
    topic = (
        0.0 if linear.embedding is None else float(np.mean(taught.embeddings @ linear.embedding))
    )
    measured = {
        "rows": len(z),
        "mean_p": float(np.average(p, weights=tested.weights)),
        "mean_failure": float(np.average(tested.fails, weights=tested.weights)),
        "ece": measures.calibration_error(p, tested.fails, tested.weights),
        "ece_unweighted": measures.calibration_error(p, tested.fails, np.ones_like(p)),
        "auroc": measures.auroc(z, tested.fails),
    }
    wording = float(np.mean(taught.grams.dot(linear.ngrams)))
    return Trained(linear, slope, offset, wording, topic, measured)


def _card(rows: Sequence[Row], measured: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    sources = sorted({row.source for row in rows})
    return {
        "meaning": MEANING,
        "sources": {
            source: {
                "licence": LICENCES[source],
                "rows": sum(row.source == source for row in rows),
                "weak_models": sorted({row.weak for row in rows if row.source == source}),
            }
            for source in sources
        },
        "folds": {"training": TRAINING, "calibration": CALIBRATION, "test": TEST},
        "calibrated_on": sorted({row.weak for row in rows} & SMALL_MODELS),
        "test_folds_small_models": {
            name: {key: round(value, 4) for key, value in figures.items()}
            for name, figures in measured.items()
        },
        "limits": LIMITS,
    }


def write(path: Path, arrays: Mapping[str, NDArray[np.float32]], card: Mapping[str, Any]) -> None:
    """Writes the head, and its card with the head's version beside it."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    path.write_bytes(buffer.getvalue())
    version = f"prior-{hashlib.sha256(buffer.getvalue()).hexdigest()[:12]}"
    text = json.dumps({"version": version, **card}, indent=2, ensure_ascii=False)
    path.with_suffix(".card.json").write_text(text + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--outcomes", "--groups", "--embeddings", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--own", type=Path, action="append", default=[])
    arguments = parser.parse_args(argv)
    rows, prompts = outcomes.read(arguments.outcomes, arguments.groups, arguments.own)
    arrays, card = train(rows, Table.of(prompts, arguments.embeddings))
    write(arguments.out, arrays, card)
    json.dump(card["test_folds_small_models"], sys.stdout, indent=2)


if __name__ == "__main__":
    main()
