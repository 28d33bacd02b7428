"""What `hybridge train` found, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from hybridge.pipeline.own_training import Figure, measured
from hybridge.routing.adaptation import Study


class Trained(msgspec.Struct, frozen=True):
    """The trial of an adapter."""

    better: bool
    said: str
    """Where it stands, in words."""
    version: str
    head: str
    comparisons: int
    groups: int
    """Of near-duplicates; each counts as one."""
    measures: dict[str, Figure]
    written: tuple[Path, ...]
    """Empty where the prior is as good."""

    @classmethod
    def of(cls, study: Study, gains: Sequence[float], written: tuple[Path, ...]) -> Self:
        made = study.adaptation
        return cls(
            made.adapter is not None,
            made.said(),
            made.version,
            made.head,
            len(study.kept),
            len(set(study.tried.group.tolist())),
            measured(study, np.array(gains, np.float64)) if made.trial.tried else {},
            written,
        )


def print_json(trained: Trained) -> None:
    """One object."""
    told: dict[str, Any] = msgspec.to_builtins(trained, enc_hook=str)
    typer.echo(msgspec.json.encode(told).decode())


def print_trained(trained: Trained) -> None:
    """A table, and what became of it."""
    console = Console()
    if trained.measures:
        table = Table(box=None, padding=(0, 1, 0, 0))
        for column in ("", "prior", "adapter", "difference"):
            table.add_column(column, justify="right" if column else "left", no_wrap=True)
        for name, figure in trained.measures.items():
            table.add_row(
                name, _shown(figure.prior), _shown(figure.adapter), _shown(figure.difference, "+")
            )
        console.print(table)
    console.print(
        f"{trained.comparisons} comparisons in {trained.groups} groups of near-duplicates, each "
        "judged by what the other groups taught; intervals of 95 %"
    )
    if trained.written:
        files = ", ".join(map(str, trained.written))
        console.print(f"{trained.version} is better than the prior; written to {files}")
    else:
        console.print(f"nothing is written; {trained.said}")


def _shown(figure: tuple[float, float, float], sign: str = "") -> str:
    value, low, high = (f"{number:{sign}.3f}" for number in figure)
    return f"{value} ({low}, {high})"
