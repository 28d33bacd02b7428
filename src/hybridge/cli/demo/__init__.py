"""`hybridge demo`: the whole flow on this machine, with a stand-in for the cloud."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from hybridge.cli import EXIT_FAILED
from hybridge.cli.options import Json


def demo(
    cloud: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL",
            help="Use a real provider instead of the stand-in, e.g. openai:gpt-4o-mini; "
            "its key comes from the provider's usual environment variable.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Starts a gateway with a real edge model and a cloud, and sends requests of every kind.

    Without --cloud the cloud is a stand-in: a second, larger local model behind a real HTTP server
    with 200-800 ms of added latency. Each side is killed and revived on the way. Ends with 1 when
    a kind of route was not seen.
    """
    from hybridge.cli.demo.play import play
    from hybridge.cli.demo.table import as_table, missing_routes, to_json

    rows = asyncio.run(play(cloud))
    if as_json:
        typer.echo(to_json(rows))
    else:
        as_table(rows, stand_in=cloud is None)
    missing = missing_routes(rows)
    if missing:
        typer.echo(f"not seen: {', '.join(missing)}", err=True)
        raise typer.Exit(EXIT_FAILED)
