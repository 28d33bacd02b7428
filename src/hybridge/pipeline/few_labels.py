r"""Measures what some labels of a pair of models are worth, on top of a head that never saw it.

    python -m hybridge.pipeline.few_labels --outcomes FOLDER --groups groups.csv.gz \
        --embeddings embeddings.npz --heads FOLDER --labels 200 [--draws 8] [--source NAME]

`heads` holds a head for each source, `NAME.npz`, that `hybridge.pipeline.train --leave-out NAME`
has made; for a source without one of its own, `all.npz`. Labels are drawn at random; APGR is
measured on the pair's other prompts, and near-duplicates of labelled ones are left out of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybridge.pipeline import outcomes
from hybridge.pipeline.design import Array
from hybridge.pipeline.measures import apgr
from hybridge.pipeline.outcomes import Row
from hybridge.pipeline.transfer import Pair, pairs_of
from hybridge.routing.adapter import fit
from hybridge.routing.head import Head, Vector, read
from hybridge.routing.view import PRIOR, view

LEAST_ROWS, LEAST_GAP = 1000, 0.1
"""Of a pair that is measured: with fewer prompts, or hardly a gap, chance decides."""
ANY = "all"


@dataclass(frozen=True, slots=True)
class Learned:
    """One pair: APGR of the prior and of the adapter on prompts without a label, by draw."""

    rows: int
    prior: Sequence[float]
    adapter: Sequence[float]


def learned(rows: Sequence[Row], views: NDArray[np.float32], labels: int, draws: int) -> Learned:
    """What so many labels of these rows are worth; `views` is `(n, SIZE)`."""
    gain = np.array([row.gain for row in rows])
    groups = np.array([row.group for row in rows])
    prior, adapter = [], []
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(rows))
        told, rest = order[:labels], order[labels:]
        rest = rest[~np.isin(groups[rest], groups[told])]
        made = fit(views[told], gain[told], weights=np.ones(len(told)))
        prior.append(apgr(views[rest, PRIOR].astype(float), gain[rest]))
        adapter.append(apgr(made.told(views[rest]), gain[rest]))
    return Learned(len(rows), prior, adapter)


def seen(head: Head, text: str, embedding: Vector | None) -> Vector:
    """The view of one text."""
    said = read(text)
    return view(head, said, embedding, head.judge(said, embedding).p)


def report(found: Mapping[Pair, Learned]) -> Iterator[str]:
    """The table, line by line; with the deviation over draws."""
    yield f"{'pair':52s} {'n':>6s} {'prior':>7s} {'adapter':>15s}"
    for pair, one in found.items():
        name = " ".join(pair)[:52]
        yield f"{name:52s} {one.rows:6d} {np.mean(one.prior):7.3f} {_spread(one.adapter)}"
    prior = np.mean([np.mean(one.prior) for one in found.values()])
    means = np.mean([one.adapter for one in found.values()], axis=0)
    yield f"{'mean':52s} {len(found):6d} {prior:7.4f} {_spread(means)}"


def _spread(values: Sequence[float] | Array) -> str:
    return f"{np.mean(values):8.4f} ±{np.std(values):.4f}"


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--outcomes", "--groups", "--embeddings", "--heads"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--measure-only", type=Path)
    parser.add_argument("--source")
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--draws", type=int, default=8)
    a = parser.parse_args(argv)
    rows, prompts = outcomes.read(a.outcomes, a.groups)
    if a.measure_only:
        others, more = outcomes.read(a.measure_only, a.groups, training=False)
        rows, prompts = [*rows, *others], prompts | more
    embeddings = _embeddings(a.embeddings)
    found = {}
    for pair, places in pairs_of(rows).items():
        those = [rows[place] for place in places]
        gap = float(np.mean([row.gain for row in those]))
        if a.source in (None, pair[0]) and len(those) >= LEAST_ROWS and gap >= LEAST_GAP:
            own = a.heads / f"{pair[0]}.npz"
            head = Head.load(own if own.exists() else a.heads / f"{ANY}.npz")
            views = [seen(head, prompts[row.key], embeddings.get(row.key)) for row in those]
            found[pair] = learned(those, np.array(views), a.labels, a.draws)
    sys.stdout.write("\n".join(report(found)) + "\n")


def _embeddings(path: Path) -> dict[str, Vector]:
    with np.load(path) as data:
        return dict(zip(data["keys"].tolist(), data["x"].astype(np.float32), strict=True))


if __name__ == "__main__":
    main()
