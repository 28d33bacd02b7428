"""`hybridge models`: the local models there are, fetching them, and their versions."""

from __future__ import annotations

import typer

from hybridge.cli.models import catalogue

app = typer.Typer(help="Local models: list them, fetch them.", no_args_is_help=True)

app.command("list")(catalogue.list_models)
app.command("pull")(catalogue.pull)
