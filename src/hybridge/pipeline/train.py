r"""Trains the scorer's head on recorded outcomes of weak and strong models.

    python -m hybridge.pipeline.train --outcomes FOLDER --groups groups.csv.gz \
        --embeddings embeddings.npz --own data/outcomes --out head.npz [--leave-out SOURCE]

`groups` gives each prompt's key a group of near-duplicates and a fold: 0-1 test, 2 calibration, 3-9
training. Groups never cross a split, and no source without a licence for training is read: both are
checked, not assumed. `--leave-out` knows nothing of a source, nor of what is nearly one of its
prompts: such a head tells what the shipped one is worth on prompts it has never seen.
Learned is on which prompts the strong model does better; the probability that is told, that the
weak model fails, is calibrated on small models. Writes the head and, beside it, its model card.
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
LANGUAGES = ("en", "zh")
PARTS = ((3, 4), (5, 6), (7, 8, 9))
"""Training folds that are left out together while the calibration is fitted."""
LIMITS = (
    "Chinese training prompts are the questions of our own, short ones with one right answer.",
    "A prompt alone tells little outside the training sources; recorded comparisons tell more.",
    "Levels move with the edge model: a stronger one fails less at every score.",
)


@dataclass(frozen=True, slots=True)
class Trained:
    """One head with its calibrations, and what it says of the test folds."""

    linear: Linear
    calibrations: Mapping[str, tuple[float, float]]
    """Slope and offset, by language."""
    usual_ngrams: float
    usual_embedding: float
    measured: Mapping[str, Mapping[str, float]]
    """By language."""

    def arrays(self, name: str) -> dict[str, NDArray[np.float32]]:
        """As `routing.head.Head` reads them."""
        linear = self.linear
        arrays = {
            "scalars": np.array((linear.bias, self.usual_ngrams, self.usual_embedding)),
            "calibrations": np.array([self.calibrations[language] for language in LANGUAGES]),
            "features": linear.features,
            "ngrams": linear.ngrams,
        }
        if linear.embedding is not None:
            arrays["embedding"] = linear.embedding
        return {f"{name}_{part}": array.astype(np.float32) for part, array in arrays.items()}


def train(
    rows: Sequence[Row], table: Table, folds: Sequence[int] = TRAINING
) -> tuple[dict[str, NDArray[np.float32]], dict[str, Any]]:
    """The arrays of a head, and its card. `folds`: what it is taught with."""
    outcomes.check_leakage(rows)
    taught = outcomes.in_folds(rows, folds)
    mean, deviation = table.scale_of(taught)
    arrays = {"mean": mean.astype(np.float32), "deviation": deviation.astype(np.float32)}
    heads = {
        name: _train(rows, taught, table, (mean, deviation), full=name == "full")
        for name in ("text", "full")
    }
    for name, head in heads.items():
        arrays |= head.arrays(name)
    return arrays, _card(rows, folds, {name: head.measured for name, head in heads.items()})


def _train(
    rows: Sequence[Row],
    lessons: Sequence[Row],
    table: Table,
    scale: tuple[Array, Array],
    *,
    full: bool,
) -> Trained:
    """Fits, calibrates on small models, measures on the test folds."""
    taught = Design.of(lessons, table, *scale)
    linear = fit(taught, full=full)
    small = [row for row in rows if row.weak in SMALL_MODELS]
    calibrations = _calibrations(rows, lessons, table, scale, full=full)
    measured = {}
    for language in LANGUAGES:
        tested = _of(outcomes.in_folds(small, TEST), language)
        if tested:
            design = Design.of(tested, table, *scale)
            z = linear.z(design)
            measured[language] = _measured(z, calibrations[language], design.fails)
    topic = (
        0.0 if linear.embedding is None else float(np.mean(taught.embeddings @ linear.embedding))
    )
    wording = float(np.mean(taught.grams.dot(linear.ngrams)))
    return Trained(linear, calibrations, wording, topic, measured)


def _of(rows: Sequence[Row], language: str) -> list[Row]:
    return [row for row in rows if row.language == language]


def _calibrations(
    rows: Sequence[Row],
    lessons: Sequence[Row],
    table: Table,
    scale: tuple[Array, Array],
    *,
    full: bool,
) -> dict[str, tuple[float, float]]:
    """By language, on small models; that of all rows for a language without any.

    Each row is told by a fit that has not seen its fold, the calibration fold by all of the others.
    """
    z, fails, chinese = [], [], []
    for part in (*PARTS, CALIBRATION):
        held = [row for row in outcomes.in_folds(rows, part) if row.weak in SMALL_MODELS]
        others = [row for row in lessons if row.fold not in part]
        if held and others:
            design = Design.of(held, table, *scale)
            z.append(fit(Design.of(others, table, *scale), full=full).z(design))
            fails.append(design.fails)
            chinese.append([row.language == "zh" for row in held])
    told, failed = np.concatenate(z), np.concatenate(fails)
    is_chinese = np.concatenate(chinese)
    found = {}
    for language in LANGUAGES:
        of = is_chinese == (language == "zh")
        of = of if of.any() else np.ones(len(told), bool)
        found[language] = measures.platt(told[of], failed[of], np.ones(int(of.sum())))
    return found


def _measured(z: Array, calibration: tuple[float, float], fails: Array) -> dict[str, float]:
    p, alike = measures.logistic(z, *calibration), np.ones(len(z))
    return {
        "rows": len(z),
        "mean_p": float(p.mean()),
        "mean_failure": float(fails.mean()),
        "ece": measures.calibration_error(p, fails, alike),
        "auroc": measures.auroc(z, fails),
    }


def without(rows: Sequence[Row], source: str) -> list[Row]:
    """All but those of a source and what is nearly one of its prompts. Raises `SystemExit`."""
    near = {row.group for row in rows if row.source == source}
    if not near:
        raise SystemExit(f"no such source: {source}")
    return [row for row in rows if row.source != source and row.group not in near]


def _card(
    rows: Sequence[Row],
    folds: Sequence[int],
    measured: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> dict[str, Any]:
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
        "folds": {"training": folds, "calibration": CALIBRATION, "test": TEST},
        "calibrated_on": sorted({row.weak for row in rows} & SMALL_MODELS),
        "test_folds_small_models": {
            name: {
                language: {key: round(value, 4) for key, value in figures.items()}
                for language, figures in by_language.items()
            }
            for name, by_language in measured.items()
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
    parser.add_argument("--own", type=Path, help="the folder of the outcome set of our own")
    parser.add_argument("--leave-out", metavar="SOURCE")
    arguments = parser.parse_args(argv)
    rows, prompts = outcomes.read(arguments.outcomes, arguments.groups, arguments.own)
    folds: Sequence[int] = TRAINING
    if arguments.leave_out:  # tested on another source: no fold of these is needed for that
        rows, folds = without(rows, arguments.leave_out), (*TEST, *TRAINING)
    arrays, card = train(rows, Table.of(prompts, arguments.embeddings), folds)
    write(arguments.out, arrays, card)
    json.dump(card["test_folds_small_models"], sys.stdout, indent=2)


if __name__ == "__main__":
    main()
