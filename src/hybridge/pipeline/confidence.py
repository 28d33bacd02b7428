"""Fits the judge of the answer on the outcome set, and says how good it is (R5, R22).

    python -m hybridge.pipeline.confidence data/outcomes --out src/hybridge/execution/assets

Everything is fitted on folds 2-9 (`judge_layers`); the curves on what layers say that have not
seen the fold. All figures are of folds 0-1, which nothing is fitted on; a topic lies
in one fold in both languages.
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

from hybridge.execution.evidence import NAMES
from hybridge.execution.head import SHARED, Head
from hybridge.learning import isotonic
from hybridge.pipeline import boosting, measures, second_answers
from hybridge.pipeline.judge_layers import OWN_TREES, RIGHTS, Layers
from hybridge.pipeline.judged_rows import Row, right, rows
from hybridge.pipeline.logistic import Array
from hybridge.pipeline.measures import auroc, calibration_error
from hybridge.pipeline.outcome_set import TEST, OutcomeSet, read
from hybridge.pipeline.outcomes import SMALL_MODELS
from hybridge.pipeline.resampling import interval
from hybridge.pipeline.second_answers import Told, by_head, pairs

BOUND = 0.7
"""The confidence below which an edge answer is not returned (SPEC R5)."""
KNOTS = np.linspace(-6.0, 6.0, 49)
"""Log-odds at which a curve is kept; straight between them, level beyond."""
METHOD = (
    f"{boosting.TREES} oblivious trees of {boosting.LEVELS} levels on log-odds, rising in what the "
    f"tokens' probabilities say, {OWN_TREES} more for each model's weights; a logistic layer over "
    "a sketch of the request's words and Platt curves by weights and script, cross-fitted"
)


def models(outcomes: OutcomeSet) -> list[str]:
    """Names of its first runs, without second samples."""
    return [name for name in outcomes.replies if "@" not in name]


def told(head: Head, every: Sequence[Row]) -> Array:
    """The confidence of each, as the judge gives it, (n,)."""
    return np.array(list(map(by_head(head), every)))


def fit(outcomes: OutcomeSet) -> dict[str, Any]:
    """The asset's fitted part."""
    every = [one for name in models(outcomes) for one in rows(outcomes, name)]
    taught = [one for one in every if one.question.fold not in TEST and one.flaw is None]
    layers = Layers.of(taught)
    weights: dict[str, Any] = {
        "bias": round(layers.grown.bias, 4),
        "trees": layers.grown.trees,
        "features": NAMES,
        "models": layers.models(),
        "curves": _curves(taught, layers.unseen),
    }
    second = second_answers.fit(pairs(outcomes, taught, _unseen(taught, layers, _head(weights))))
    for version, row in weights["models"].items():
        if version in second:
            row["second"] = second.pop(version)
    weights["second"] = second
    digest = sha256(json.dumps(weights).encode()).hexdigest()[:8]
    return {"version": f"judge-{digest}"} | weights


def _unseen(taught: Sequence[Row], layers: Layers, head: Head) -> Told:
    """What a judge says that has not seen the answer; of others, what the whole one says."""
    known = {
        (one.model, one.question.key): head.curve(one.version, one.wanted.script)(float(z))
        for one, z in zip(taught, layers.unseen, strict=True)
    }
    told = by_head(head)

    def unseen(row: Row) -> float:
        key = (row.model, row.question.key)
        return known[key] if key in known else told(row)

    return unseen


def _head(weights: dict[str, Any]) -> Head:
    return Head.of({"version": "", "second": {}} | weights)


def _curves(taught: Sequence[Row], z: Array) -> dict[str, Any]:
    """By weights and script. The shared ones are for models of a usual size, which nobody measured
    and which hardly fail as often as one of 135 million parameters."""
    curves: dict[str, Any] = {}
    scripts = np.array([one.wanted.script for one in taught])
    versions, labels = np.array([one.version for one in taught]), right(taught)
    usual = np.array([one.model in SMALL_MODELS for one in taught])
    for script in ("en", "zh"):
        of = scripts == script
        shared = _curve(z[of & usual], labels[of & usual])
        curves.setdefault(SHARED, {})[script] = shared
        for version in sorted(set(versions)):
            own = of & (versions == version)
            enough = min(labels[own].sum(), (1 - labels[own]).sum()) >= RIGHTS
            curve = _curve(z[own], labels[own]) if enough else shared
            curves.setdefault(str(version), {})[script] = curve
    return curves


def _curve(z: Array, labels: Array) -> tuple[list[float], list[float]]:
    """Platt's calibration as knots. Boosted log-odds need little: slopes are .9 to 1.1, and it
    tells held-out answers better than isotonic regression, whose steps follow chance."""
    slope, offset = measures.platt(z, labels, np.ones(len(z)))
    told = measures.logistic(KNOTS, slope, offset)
    return KNOTS.tolist(), np.round(np.clip(told, isotonic.LEAST, isotonic.MOST), 4).tolist()


def figures(p: Array, every: Sequence[Row]) -> dict[str, Any]:
    """What is reported of one group of answers; intervals are of 95 %, resampled by topic."""
    labels, passed = right(every), p >= BOUND
    topics = [f"{one.question.kind}/{one.question.topic}" for one in every]
    return {
        "answers": len(every),
        "right": round(float(labels.mean()), 3),
        "auroc": round(auroc(p, labels), 3),
        "auroc_interval": interval(lambda at: auroc(p[at], labels[at]), topics),
        "ece": round(calibration_error(p, labels, np.ones_like(p)), 3),
        "passed": round(float(passed.mean()), 3),
        "right_of_passed": round(float(labels[passed].mean()), 3) if passed.any() else None,
    }


def report(outcomes: OutcomeSet, head: Head) -> dict[str, Any]:
    """Figures on folds 0-1, by model and language."""
    found = {}
    for name in models(outcomes):
        tested = [one for one in rows(outcomes, name) if one.question.fold in TEST]
        for language in ("en", "zh"):
            these = [one for one in tested if one.question.language == language]
            if these:
                found[these[0].group] = figures(told(head, these), these)
    return found


def build(outcomes: OutcomeSet) -> dict[str, Any]:
    """The asset: what is fitted, where it comes from, and its figures."""
    weights = fit(outcomes)
    return {
        "version": weights["version"],
        "source": {
            "method": METHOD,
            "data": {name: row["sha256"] for name, row in outcomes.card["files"].items()},
            "answers": {name: len(outcomes.replies[name]) for name in outcomes.replies},
            "made_by": "hybridge.pipeline.confidence",
        },
        "figures_on_folds_0_and_1": report(outcomes, Head.of(weights)),
    } | weights


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outcomes", type=Path, help="the folder of the outcome set")
    parser.add_argument("--out", type=Path, required=True, help="folder for confidence.json")
    arguments = parser.parse_args(argv)
    asset = build(read(arguments.outcomes))
    (arguments.out / "confidence.json").write_text(_text(asset), "utf-8")
    sys.stdout.write(_text({key: asset[key] for key in ("source", "figures_on_folds_0_and_1")}))


def _text(asset: dict[str, Any]) -> str:
    """Indented, and each tree and curve in a line of its own."""
    short = {key: asset[key] for key in ("trees", "models", "curves") if key in asset}
    lines = json.dumps({k: v for k, v in asset.items() if k not in short}, indent=2)[:-2]
    for key, value in short.items():
        rows_ = value if key == "trees" else [[name, curve] for name, curve in value.items()]
        told_ = ",\n    ".join(
            json.dumps(row) if key == "trees" else f"{json.dumps(row[0])}: {json.dumps(row[1])}"
            for row in rows_
        )
        opens, closes = "[]" if key == "trees" else "{}"
        lines += f',\n  "{key}": {opens}\n    {told_}\n  {closes}'
    return lines + "\n}\n"


if __name__ == "__main__":
    main()
