"""`python -m benchmarks.confidence`: the judge of the answer on folds 0-1 of the outcome set."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.confidence import cascade, page, plot, streaming
from benchmarks.confidence.goals import missed
from benchmarks.confidence.scored import scores
from benchmarks.measured import machine, table, write
from hybridge.core.response import Token
from hybridge.execution.confidence import Judge
from hybridge.execution.head import Head, shipped
from hybridge.pipeline.confidence import figures, models, told
from hybridge.pipeline.judged_rows import Row, rows, wanted
from hybridge.pipeline.logistic import Array
from hybridge.pipeline.measures import auroc, calibration_error
from hybridge.pipeline.outcome_set import TEST, OutcomeSet, read
from hybridge.pipeline.second_answers import Pair, by_head, pairs

CLOUDS = {"a cloud that is always right": 1.0, "a cloud that is right in 85 %": 0.85}
SECOND_LEAST = 50
"""Pairs of answers from which a second model is spoken of."""


def main() -> int:
    """Measure, print and keep. Returns 1 with --check when a goal is missed."""
    asked = _arguments()
    outcomes, head = read(asked.outcomes), shipped()
    score = scores([one for one in outcomes.questions.values() if one.fold in TEST])
    groups, trusts, tested = {}, {}, {}
    for name, every in _groups(outcomes).items():
        seconds = _seconds(outcomes, every, head)
        best = max(seconds, key=lambda by: _right(seconds[by]), default="")
        groups[name] = _figures(every, head, seconds) | {"better": best}
        trusts[name] = cascade.policies(every, head, score, seconds.get(best, []))
        tested[name] = every
    charts = {
        title: {n: cascade.curves(trusts[n], tested[n], cloud) for n in trusts}
        for title, cloud in CLOUDS.items()
    }
    stream = {name: streaming.decided(every, head) for name, every in tested.items()}
    judged_ms = _judged_ms(outcomes)
    _print(groups, charts, stream, judged_ms)
    told_ = {"groups": groups, "curves": charts, "streaming": stream, "judged_ms": judged_ms}
    print(f"\n{write('confidence', {'machine': machine(), 'judge': head.version} | told_)}")
    perfect = charts["a cloud that is always right"]
    if asked.page:
        page.fill(asked.page, told_)
    if asked.svg:
        asked.svg.write_text(plot.svg(perfect), "utf-8")
    misses = list(missed(groups, perfect, judged_ms))
    print("\n" + "\n".join([f"MISSED  {miss}" for miss in misses] or ["every goal reached"]))
    return 1 if asked.check and misses else 0


def _groups(outcomes: OutcomeSet) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for name in models(outcomes):
        for one in rows(outcomes, name):
            if one.question.fold in TEST:
                groups.setdefault(one.group, []).append(one)
    return groups


def _seconds(outcomes: OutcomeSet, every: Sequence[Row], head: Head) -> dict[str, list[Pair]]:
    """Pairs by the second's name, those with enough of them."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs(outcomes, every, by_head(head)):
        found.setdefault(pair.second.model, []).append(pair)
    return {name: some for name, some in found.items() if len(some) >= SECOND_LEAST}


def _right(some: Sequence[Pair]) -> float:
    """How often the second answer is right: whoever has the choice asks the better model."""
    return float(np.mean([pair.second.reply.right for pair in some]))


def _figures(
    every: Sequence[Row], head: Head, seconds: Mapping[str, Sequence[Pair]]
) -> dict[str, Any]:
    judge = told(head, every)
    return figures(judge, every) | {
        "ece_by_chance": _ece_by_chance(judge),
        "seconds": {name: _with_second(every, judge, head, some) for name, some in seconds.items()},
    }


def _with_second(
    every: Sequence[Row], judge: Array, head: Head, some: Sequence[Pair]
) -> dict[str, Any]:
    """Of the answers that the second model answered too: with it in the middle band, and always."""
    keys = {pair.first.question.key for pair in some}
    places = [place for place, one in enumerate(every) if one.question.key in keys]
    these, before = [every[place] for place in places], judge[places]
    middle = cascade.with_second(these, before, head, some)
    always = cascade.with_second(these, before, head, some, band=(0.0, 1.0))
    labels = np.array([float(one.reply.right) for one in these])
    asked = np.mean((before >= cascade.MIDDLE[0]) & (before <= cascade.MIDDLE[1]))
    return figures(middle, these) | {
        "alone": round(auroc(before, labels), 3),
        "always": round(auroc(always, labels), 3),
        "asked": round(float(asked), 3),
    }


def _ece_by_chance(judge: Array, times: int = 200) -> float:
    """The calibration error of a perfectly calibrated judge over so few answers, on average."""
    rng = np.random.default_rng(5)
    ones = np.ones_like(judge)
    drawn = (calibration_error(judge, rng.random(len(judge)) < judge, ones) for _ in range(times))
    return round(float(np.mean(list(drawn))), 3)


def _judged_ms(outcomes: OutcomeSet) -> float:
    """The median time for an answer of 200 tokens."""
    judge, question = Judge(), next(iter(outcomes.questions.values()))
    tokens = [Token(f" word{place}", -0.01 * (place % 17)) for place in range(200)]
    text = "".join(token.text for token in tokens)
    took = []
    for _ in range(300):
        start = time.perf_counter()
        judge.confidence(tokens, text, finish_reason="stop", wanted=wanted(question), score=None)
        took.append(1000 * (time.perf_counter() - start))
    return round(statistics.median(took), 3)


def _print(
    groups: Mapping[str, Mapping[str, Any]],
    charts: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    stream: Mapping[str, Mapping[int, Mapping[str, float | int]]],
    judged_ms: float,
) -> None:
    print(table(["answers of", *_COLUMNS], [[n, *_line(found)] for n, found in groups.items()]))
    lines = [
        [name, second, *_line(found), found["alone"], found["always"], f"{found['asked']:.0%}"]
        for name, group in groups.items()
        for second, found in group["seconds"].items()
    ]
    heads = ["with a second answer of", *_COLUMNS, "AUROC alone", "always asked", "asked"]
    print("\n" + table(["answers of", *heads], [[str(cell) for cell in line] for line in lines]))
    for title, curves in charts.items():
        shares = [f"{share:.0%}" for share in cascade.SHARES]
        cells = [
            [name, policy, *(f"{value:.3f}" for value in values)]
            for name, policies in curves.items()
            for policy, values in policies.items()
        ]
        print(f"\nshare of right answers with {title}, by the share that goes there")
        print(table(["edge", "routed by", *shares], cells))
    rows_ = [
        [name, str(tokens), *(str(value) for value in found.values())]
        for name, by in stream.items()
        for tokens, found in by.items()
    ]
    print("\n" + table(["stream of", "tokens", "longer", "decide alike", "let go wrongly"], rows_))
    print(f"\nan answer of 200 tokens is judged in {judged_ms:.3f} ms")


_COLUMNS = ("n", "right", "AUROC", "95 %", "ECE", "by chance", "reach 0.7", "right of those")


def _line(found: Mapping[str, Any]) -> list[str]:
    low, high = found["auroc_interval"]
    chance, sure = found.get("ece_by_chance", ""), found["right_of_passed"]
    return [
        str(found["answers"]), f"{found['right']:.0%}", f"{found['auroc']:.3f}",
        f"{low:.2f}-{high:.2f}", f"{found['ece']:.3f}", str(chance),
        f"{found['passed']:.0%}", "" if sure is None else f"{sure:.0%}",
    ]  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.confidence", description=__doc__)
    parser.add_argument("--outcomes", type=Path, default=Path("data/outcomes"))
    parser.add_argument("--svg", type=Path, help="where the curves are drawn")
    parser.add_argument("--page", type=Path, help="the page that the figures are written into")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
