"""`hybridge models bench`: what this machine makes of a model, by many settings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.edge.encoder_bench import Found, Timed
    from hybridge.edge.llm_bench import EngineTimed

STEPS = 100


def bench(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A folder with .onnx files and tokenizer.json, a .gguf file, or a name from "
            "`hybridge models list`. Default: the scorer's encoder."
        ),
    ] = None,
    config: Config = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=3600.0, help="Time to spend, loading not counted.")
    ] = 30.0,
    as_json: Json = False,
) -> None:
    """Times a model by threads, batches, precisions, engines, and proposes settings."""
    if model is None or not _is_llm(model):
        _bench_encoder(model, seconds, as_json)
    else:
        _bench_llm(model, config, seconds, as_json)


def _is_llm(model: str) -> bool:
    from hybridge.modelstore.catalogue import CATALOGUE

    return model.endswith(".gguf") or model in CATALOGUE


def _bench_encoder(model: str | None, seconds: float, as_json: bool) -> None:
    from hybridge.cli.progress import counting
    from hybridge.edge.encoder import SCORER
    from hybridge.edge.encoder_bench import compare
    from hybridge.edge.threads import cores

    place = SCORER / "encoder.onnx" if model is None else Path(model)
    with counting("timing", STEPS) as step:
        so_far = 0

        def done(share: float) -> None:
            nonlocal so_far
            step(int(share * STEPS) - so_far)
            so_far = int(share * STEPS)

        found = compare(place, cores(), seconds, done)
    if as_json:
        _print_json(_encoder_json(found))
    else:
        _print_encoder(found)


def _encoder_json(found: Found) -> dict[str, object]:
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


def _print_encoder(found: Found) -> None:
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


def _bench_llm(model: str, config: Path | None, seconds: float, as_json: bool) -> None:
    from hybridge import wiring
    from hybridge.cli.progress import counting, downloading
    from hybridge.edge.llm_bench import fastest, time_engines

    fetch = wiring.fetcher(settings_of(config))
    path = Path(model)
    if not model.endswith(".gguf"):
        with downloading(f"fetching {model}") as advance:
            path = fetch.ensure(model, advance)
    contestants = wiring.contestants(path)
    with counting("timing", len(contestants)) as done:
        share_s = seconds / len(contestants)
        rows = asyncio.run(time_engines(contestants, share_s, done))
    best = fastest(rows)
    proposed = (
        f"edge:\n  backends:\n    - name: local\n      engine: {best.engine}\n"
        f"      model: {model}\n      threads: {best.threads}\n"
    )
    if as_json:
        _print_json({"rows": rows, "best": best, "proposal": proposed})
    else:
        _print_llm(rows, proposed)


def _print_llm(rows: list[EngineTimed], proposed: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("engine", "threads", "load, s", "prefill tok/s", "decode tok/s", "memory")
    for row in rows:
        memory = "-" if row.memory_bytes is None else f"{row.memory_bytes / 1e6:.0f} MB"
        table.add_row(
            row.engine,
            str(row.threads),
            f"{row.load_s:.2f}",
            f"{row.prefill_tokens_per_s:.1f}",
            f"{row.decode_tokens_per_s:.1f}",
            memory,
        )
    console = Console()
    console.print(table)
    console.print(f"\nfor hybridge.yaml:\n\n{proposed}", markup=False)


def _print_json(found: object) -> None:
    import msgspec

    typer.echo(msgspec.json.encode(found).decode())
