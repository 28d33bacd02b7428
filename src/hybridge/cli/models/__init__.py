"""`hybridge models`: the local models there are, fetching them, and making them."""

from __future__ import annotations

import typer

from hybridge.cli.models import catalogue, export, quantize

app = typer.Typer(help="Local models: list, fetch, export, quantise.", no_args_is_help=True)

app.command("list")(catalogue.list_models)
app.command("pull")(catalogue.pull)
app.command("export")(export.export)
app.command("quantize")(quantize.quantize)
