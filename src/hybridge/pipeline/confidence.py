"""Fits the curve from token probabilities to confidence (R5, R22), and says how good it is.

    python -m hybridge.pipeline.confidence answers*.jsonl --out src/hybridge/execution/assets

The files come from `hybridge.pipeline.ask`. A question is in one fold for all models, so that no
figure is measured on a question that the fit has seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridge.core.request import Message, Request
from hybridge.execution.confidence import FLAWED
from hybridge.execution.curve import Curve, features
from hybridge.execution.form import flaw
from hybridge.execution.wanted import Wanted
from hybridge.pipeline.ask import MAX_TOKENS
from hybridge.pipeline.logistic import Array, auroc, ece, fit, out_of_fold

FOLDS = 5
BOUND = 0.7
"""The confidence below which an edge answer is not returned (SPEC R5)."""
HELD = 24
"""Tokens after which a streamed answer is judged: `routing.hold_tokens`."""
NOTE = f"logistic regression, ridge 1; answers at temperature 0 and max_tokens {MAX_TOKENS}"

Row = dict[str, Any]


def load(paths: Sequence[Path]) -> list[Row]:
    """All answers that have at least one token, each with its visible flaw, if it has one."""
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in map(json.loads, lines) if row["logprobs"]]
    return [row | {"flaw": _flaw(row)} for row in rows]


def _flaw(row: Row) -> str | None:
    asked = Message("user", row["question"])
    request = Request("", "auto", (asked,), body={}, max_tokens=MAX_TOKENS)
    return flaw(row["answer"], finish_reason=row["finish_reason"], wanted=Wanted.of(request))


def folds(rows: Sequence[Row]) -> NDArray[np.int64]:
    """The fold of each row, from a digest of its question."""
    digests = (sha256(row["question"].encode()).digest() for row in rows)
    return np.array([digest[0] % FOLDS for digest in digests], dtype=np.int64)


def judged(rows: Sequence[Row]) -> tuple[Array, Array]:
    """Confidence as the judge gives it, by fits that have not seen the question; and the truth."""
    sane = [row for row in rows if row["flaw"] is None]
    told = np.full(len(rows), FLAWED)
    places = [place for place, row in enumerate(rows) if row["flaw"] is None]
    told[places] = out_of_fold(_features(sane), _right(sane), folds(sane))
    return told, _right(rows)


def figures(told: Array, labels: Array) -> dict[str, float | int]:
    """What is reported of one group of answers."""
    passed = told >= BOUND
    return {
        "answers": len(labels),
        "right": round(float(labels.mean()), 3),
        "auroc": round(auroc(told, labels), 3),
        "ece": round(ece(told, labels), 3),
        "passed": round(float(passed.mean()), 3),
        "right_of_passed": round(float(labels[passed].mean()), 3) if passed.any() else 0.0,
    }


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """Figures of all answers together, and by model and language."""
    told, labels = judged(rows)
    groups = np.array([f"{row['model']} {row['language']}" for row in rows])
    return {"all": figures(told, labels)} | {
        str(name): figures(told[groups == name], labels[groups == name])
        for name in np.unique(groups)
    }


def early(rows: Sequence[Row], curve: Curve) -> dict[str, float | int]:
    """Of the answers longer than `HELD` tokens: how often their beginning decides otherwise."""
    longer = [row["logprobs"] for row in rows if len(row["logprobs"]) > HELD]
    moved = [
        (curve.confidence(lp[:HELD]) >= BOUND) != (curve.confidence(lp) >= BOUND) for lp in longer
    ]
    return {"answers": len(longer), "decided_otherwise": round(float(np.mean(moved)), 3)}


def build(rows: Sequence[Row]) -> dict[str, Any]:
    """The asset: the curve, where it comes from, and its figures. Refuses a falling curve."""
    sane = [row for row in rows if row["flaw"] is None]
    intercept, whole, passage = (round(float(w), 3) for w in fit(_features(sane), _right(sane)))
    if min(whole, passage) < 0:
        raise SystemExit("refused: confidence would fall where a probability rises")
    weights = {"intercept": intercept, "whole": whole, "passage": passage}
    version = "curve-" + sha256(json.dumps(weights).encode()).hexdigest()[:8]
    return {
        "version": version,
        "curve": weights,
        "source": {
            "method": NOTE,
            "models": sorted({row["model"] for row in rows}),
            "questions": len({row["question"] for row in rows}),
            "answers_fitted": len(sane),
            "made_by": ["hybridge.pipeline.ask", "hybridge.pipeline.confidence"],
        },
        "figures_out_of_fold": report(rows),
        "first_24_tokens": early(sane, Curve(**weights, version=version)),
    }


def _features(rows: Sequence[Row]) -> Array:
    return np.array([features(row["logprobs"]) for row in rows])


def _right(rows: Sequence[Row]) -> Array:
    return np.array([row["right"] for row in rows], dtype=np.float64)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True, help="folder for confidence.json")
    arguments = parser.parse_args()
    text = json.dumps(build(load(arguments.answers)), indent=2) + "\n"
    (arguments.out / "confidence.json").write_text(text, "utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
