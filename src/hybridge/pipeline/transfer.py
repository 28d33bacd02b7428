r"""Measures how well the scorer carries over to prompts of a source it has never seen.

    python -m hybridge.pipeline.transfer --outcomes FOLDER --groups groups.csv.gz \
        --embeddings embeddings.npz [--own data/outcomes] [--measure-only FOLDER]

Leaves out one source after the other, with every near-duplicate of its prompts; trains on all that
is left; prints APGR and AUROC of the left-out pairs beside those of the plain prompt length.
`--measure-only` outcomes are never trained on.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybridge.pipeline import outcomes
from hybridge.pipeline.design import Array, Design, Table
from hybridge.pipeline.measures import apgr, auroc
from hybridge.pipeline.outcomes import Row
from hybridge.pipeline.ridge import fit

LEAST_ROWS = 60
MANY_ROWS = 1000
LEAST_GAIN = 0.02
"""Where the strong model is hardly better than the weak one, there is no gap to recover."""
RESAMPLES = 200
LENGTH, TEXT, FULL = "length", "text", "full"
Pair = tuple[str, str, str]
"""Source, weak model, language."""


@dataclass(frozen=True, slots=True)
class Told:
    """What each score says of one pair's rows."""

    rows: Sequence[Row]
    scores: Mapping[str, Array]

    def apgr(self, name: str, places: NDArray[np.int64] | None = None) -> float:
        """Of one score, over some of the rows."""
        gain = np.array([row.gain for row in self.rows])
        drawn = np.arange(len(gain)) if places is None else places
        return apgr(self.scores[name][drawn], gain[drawn])

    def auroc(self, name: str) -> float:
        """Of one score, for `the weak model fails`."""
        return auroc(self.scores[name], np.array([row.fails for row in self.rows]))


def leave_one_out(
    train: Sequence[Row], every: Sequence[Row], table: Table, lengths: Mapping[str, float]
) -> Iterator[tuple[Pair, Told]]:
    """Each pair of each source in `every`, scored by heads that know nothing of its source."""
    for source in sorted({row.source for row in every if row.source not in outcomes.OWN}):
        held = [row for row in every if row.source == source]
        near = {row.group for row in held}
        left = [row for row in train if row.source != source and row.group not in near]
        scored = _scores(left, held, table) | {LENGTH: np.array([lengths[row.key] for row in held])}
        for pair, places in pairs_of(held).items():
            told = Told([held[i] for i in places], {n: s[places] for n, s in scored.items()})
            if len(places) >= LEAST_ROWS and _gap(told.rows) > LEAST_GAIN:
                yield pair, told


def _scores(left: Sequence[Row], held: Sequence[Row], table: Table) -> dict[str, Array]:
    scale = table.scale_of(left)
    taught, asked = Design.of(left, table, *scale), Design.of(held, table, *scale)
    text = fit(taught, full=False).z(asked)
    full = fit(taught, full=True).z(asked)
    seen = np.any(asked.embeddings != 0, axis=1)
    return {TEXT: text, FULL: np.where(seen, full, text)}


def pairs_of(rows: Sequence[Row]) -> dict[Pair, list[int]]:
    """The places of each pair's rows."""
    pairs: dict[Pair, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        pairs[row.source, row.weak, row.language].append(place)
    return pairs


def _gap(rows: Sequence[Row]) -> float:
    return float(np.mean([row.gain for row in rows]))


def interval(pairs: Sequence[Told], name: str, *, seed: int = 0) -> tuple[float, float]:
    """95 % of the mean APGR's lead over length, when prompts are drawn anew within each pair."""
    rng, leads = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        drawn = [(told, rng.integers(0, len(told.rows), len(told.rows))) for told in pairs]
        leads.append(np.mean([t.apgr(name, d) - t.apgr(LENGTH, d) for t, d in drawn]))
    low, high = np.percentile(leads, [2.5, 97.5])
    return float(low), float(high)


def report(told: Mapping[Pair, Told]) -> Iterator[str]:
    """The table, line by line."""
    names = (LENGTH, TEXT, FULL)
    yield f"{'pair':52s} {'n':>6s} " + " ".join(f"{n + ' APGR/AUROC':>18s}" for n in names)
    for pair, one in told.items():
        figures = " ".join(f"{one.apgr(n):11.3f} / {one.auroc(n):.3f}" for n in names)
        yield f"{' '.join(pair)[:52]:52s} {len(one.rows):6d} {figures}"
    every = list(told.values())
    yield from _means("mean of all", every)
    # A pair of a hundred rows moves a mean as much as one of ten thousand, by chance alone.
    many = [one for one in every if len(one.rows) >= MANY_ROWS]
    yield from _means(f"mean of those with {MANY_ROWS} rows", many)


def _means(title: str, pairs: Sequence[Told]) -> Iterator[str]:
    if not pairs:
        return
    names = (LENGTH, TEXT, FULL)
    figures = (
        f"{np.mean([t.apgr(n) for t in pairs]):11.4f} / {np.mean([t.auroc(n) for t in pairs]):.3f}"
        for n in names
    )
    yield f"{title:52s} {len(pairs):6d} " + " ".join(figures)
    for name in names[1:]:
        low, high = interval(pairs, name)
        yield f"  {name}: lead over length in APGR, 95 % interval {low:+.4f} to {high:+.4f}"


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--outcomes", "--groups", "--embeddings"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--own", type=Path)
    parser.add_argument("--measure-only", type=Path)
    a = parser.parse_args(argv)
    train, prompts = outcomes.read(a.outcomes, a.groups, a.own)
    every = [("sources with a licence", train)]
    if a.measure_only:
        others, more = outcomes.read(a.measure_only, a.groups, training=False)
        prompts |= more
        every.append(("measured only", others))
    table = Table.of(prompts, a.embeddings)
    lengths = {key: float(len(text)) for key, text in prompts.items()}
    for title, rows in every:
        told = dict(leave_one_out(train, rows, table, lengths))
        sys.stdout.write("\n".join([title, *report(told), ""]) + "\n")


if __name__ == "__main__":
    main()
