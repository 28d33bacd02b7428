"""`hybridge models`: the local models there are, fetching them, making them, timing them."""

from __future__ import annotations

import typer

from hybridge.cli.models import bench, catalogue, export, quantize

app = typer.Typer(help="Local models: list, fetch, export, quantise, time.", no_args_is_help=True)

app.command("list")(catalogue.list_models)
app.command("pull")(catalogue.pull)
app.command("export")(export.export)
app.command("quantize")(quantize.quantize)
app.command("bench")(bench.bench)
