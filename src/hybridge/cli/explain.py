"""`hybridge explain`: the decision about a prompt, without running it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.core.report import Report
    from hybridge.settings import Settings

AT_ONCE = 64
"""Lines of a batch that are read, encoded and told of together."""


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
    head: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Score with this head, in place of the configured one."),
    ] = None,
    adapter: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Let this adapter speak, in place of the configured one and of what the records "
            "tell.",
        ),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Says where a prompt would run and why. Nothing is run and no model is loaded.

    What the records hold of comparisons is taken into account, as the gateway does; they are only
    read. With `--head` or `--adapter` they are not.
    """
    settings = _scored_by(settings_of(config), head, adapter)
    learned = head is None and adapter is None
    if batch is not None:
        asyncio.run(_explain_batch(settings, batch, learned=learned))
    elif prompt is not None:
        text = sys.stdin.read() if prompt == "-" else prompt
        asyncio.run(_explain(settings, text, learned=learned, as_json=as_json))
    else:
        raise typer.BadParameter("give a prompt, or --batch FILE")


def _scored_by(settings: Settings, head: Path | None, adapter: Path | None) -> Settings:
    """The settings with other files; another head has no use for the configured adapter."""
    if head is None and adapter is None:
        return settings
    files = {"head": head or settings.routing.head, "adapter": adapter}
    routing = settings.routing.model_copy(update=files)
    return settings.model_copy(update={"routing": routing})


async def _explain(settings: Settings, prompt: str, *, learned: bool, as_json: bool) -> None:
    from hybridge import wiring

    async with wiring.open_house(settings, load=False, learned=learned) as house:
        report = await house.gateway.explain(wiring.request_of(prompt))
        _print(report, house.learned, as_json)


async def _explain_batch(settings: Settings, source: str, *, learned: bool) -> None:
    import msgspec

    from hybridge import wiring
    from hybridge.cli.progress import counting

    rows = [_row(line, number) for number, line in enumerate(_lines(source), 1)]
    async with wiring.open_house(settings, load=False, learned=learned) as house:
        with counting("explaining", len(rows)) as done:
            for start in range(0, len(rows), AT_ONCE):
                part = rows[start : start + AT_ONCE]
                requests = [wiring.request_of(row["prompt"]) for row in part]
                for row, told in zip(part, await house.explain_many(requests), strict=True):
                    out = {
                        "id": row["id"],
                        "score": told.score.value,
                        "route": told.report.route.value,
                        "reasons": told.report.reasons,
                    }
                    sys.stdout.write(msgspec.json.encode(out).decode() + "\n")
                done(len(part))


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


def _print(report: Report, learned: Sequence[str], as_json: bool) -> None:
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
        ("adapter", "\n".join(learned) or "nothing to learn from yet"),
        ("because", "\n".join(report.reasons) or "-"),
        ("dropped", "\n".join(f"{d.backend}: {d.reason}" for d in report.dropped) or "-"),
        ("notice", report.notice or "-"),
    ):
        table.add_row(f"[bold]{name}[/]", value)
    Console().print(table)
