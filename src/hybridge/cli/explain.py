"""`hybridge explain`: the decision about a prompt, without running it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.core.report import Report
    from hybridge.settings import Settings


def explain(
    prompt: Annotated[
        str | None, typer.Argument(help="The prompt; `-` reads standard input.")
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="JSON lines {id, prompt}, `-` for standard input; one line {id, score, route, "
            "reasons} comes out for each, in order: the score as the scorer gives it, whatever "
            "rules make of it.",
        ),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Says where a prompt would run and why. Nothing is run and no model is loaded."""
    settings = settings_of(config)
    if batch is not None:
        asyncio.run(_explain_batch(settings, batch))
    elif prompt is not None:
        text = sys.stdin.read() if prompt == "-" else prompt
        report = asyncio.run(_explain(settings, text))
        _print(report, as_json)
    else:
        raise typer.BadParameter("give a prompt, or --batch FILE")


async def _explain(settings: Settings, prompt: str) -> Report:
    from hybridge import wiring

    async with wiring.open_house(settings, load=False) as house:
        return await house.gateway.explain(wiring.request_of(prompt))


async def _explain_batch(settings: Settings, source: str) -> None:
    import msgspec

    from hybridge import wiring
    from hybridge.cli.progress import counting

    lines = list(_lines(source))
    async with wiring.open_house(settings, load=False) as house:
        with counting("explaining", len(lines)) as done:
            for number, line in enumerate(lines, 1):
                row = _row(line, number)
                request = wiring.request_of(row["prompt"])
                report = await house.gateway.explain(request)
                score = await house.score(request)
                out = {
                    "id": row["id"],
                    "score": score,
                    "route": report.route.value,
                    "reasons": report.reasons,
                }
                sys.stdout.write(msgspec.json.encode(out).decode() + "\n")
                done()


def _lines(source: str) -> Iterator[str]:
    stream: TextIO = sys.stdin if source == "-" else Path(source).open(encoding="utf-8")  # noqa: SIM115
    with stream:
        yield from (line for line in stream if line.strip())


def _row(line: str, number: int) -> dict[str, Any]:
    import msgspec

    try:
        row = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise typer.BadParameter(f"line {number} is no JSON object: {error}") from error
    if not isinstance(row.get("prompt"), str):
        raise typer.BadParameter(f"line {number} has no `prompt`, a string")
    return {"id": row.get("id", number), "prompt": row["prompt"]}


def _print(report: Report, as_json: bool) -> None:
    from hybridge.server.report import as_json as encoded

    if as_json:
        typer.echo(encoded(report).decode())
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None)
    score = "-" if report.score is None else f"{report.score:.1f} of 10"
    bounds = report.thresholds
    for name, value in (
        ("route", report.route.value),
        ("first asked", f"{report.model} ({report.tier})"),
        ("score", score),
        (
            "boundaries",
            f"edge to {bounds.edge_max}, cloud from {bounds.cloud_min} ({bounds.version})",
        ),
        ("because", "\n".join(report.reasons) or "-"),
        ("dropped", "\n".join(f"{d.backend}: {d.reason}" for d in report.dropped) or "-"),
        ("notice", report.notice or "-"),
    ):
        table.add_row(f"[bold]{name}[/]", value)
    Console().print(table)
