"""`hybridge models bench` of a sentence encoder: settings, in a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybridge.cli.options import print_json

if TYPE_CHECKING:
    from hybridge.edge.encoder_bench import Found, Timed

STEPS = 100


def run(place: Path | None, seconds: float, *, as_json: bool) -> None:
    """Times the encoder of a file or folder, by default the scorer's, and prints what it found."""
    from hybridge.cli.progress import counting
    from hybridge.edge.encoder import SCORER
    from hybridge.edge.encoder_bench import compare
    from hybridge.edge.threads import cores

    with counting("timing", STEPS) as step:
        so_far = 0

        def done(share: float) -> None:
            nonlocal so_far
            step(int(share * STEPS) - so_far)
            so_far = int(share * STEPS)

        found = compare(place or SCORER / "encoder.onnx", cores(), seconds, done)
    if as_json:
        print_json(_shown(found))
    else:
        _print(found)


def _shown(found: Found) -> dict[str, object]:
    from hybridge.edge.encoder_bench import proposal

    return {
        "rows": found.rows,
        "best": found.best,
        "size_bytes": found.size_bytes,
        "load_s": found.load_s,
        "steady": found.steady,
        "likeness": found.likeness,
        "proposal": proposal(found),
    }


def _print(found: Found) -> None:
    from rich.console import Console
    from rich.table import Table

    from hybridge.edge.encoder_bench import BATCHED, LENGTHS, proposal

    titles = [f"{tokens} tok, ms" for tokens in LENGTHS]
    said = f"p50 / p99 of a run; texts/s at {BATCHED} tokens"
    table = Table("file", "settings", *titles, "texts/s", caption=said)
    for row in found.rows:
        times = (_times(row, tokens) for tokens in LENGTHS)
        table.add_row(row.trial.file, _settings(row), *times, f"{row.texts_per_s[BATCHED]:.0f}")
    console = Console()
    console.print(table)
    for name, size in found.size_bytes.items():
        together = "together" if found.steady[name] else "one by one, for a batch changes vectors"
        like = found.likeness[name]
        console.print(
            f"{name}: {size / 1e6:.1f} MB, loaded in {found.load_s[name]:.2f} s, likeness "
            f"{'-' if like is None else format(like, '.4f')}; texts of a moment are computed "
            f"{together}"
        )
    console.print(f"\nfor hybridge.yaml ({found.best.trial.file}, {_settings(found.best)}):\n")
    console.print(proposal(found), markup=False)


def _times(row: Timed, tokens: int) -> str:
    if tokens not in row.p50_ms:
        return "-"
    return f"{row.p50_ms[tokens]:.1f} / {row.p99_ms[tokens]:.1f}"


def _settings(row: Timed) -> str:
    trial = row.trial
    said = [] if trial.provider == "cpu" else [trial.provider]
    said.append(f"{trial.threads} thread{'s' if trial.threads > 1 else ''}")
    said += [f"{trial.runs} runs"] if trial.runs > 1 else []
    said += [f"batch {trial.batch}"] if trial.batch > 1 else []
    said += [trial.mode] if trial.mode != "sequential" else []
    said += [f"optimisation {trial.optimisation}"] if trial.optimisation != "all" else []
    return ", ".join(said)
