"""`hybridge models`: the local models there are, fetching them, and their versions."""

from __future__ import annotations

import typer

from hybridge.cli.models import catalogue, verify, versions

app = typer.Typer(help="Local models and their versions.", no_args_is_help=True)

app.command("list")(catalogue.list_models)
app.command("pull")(catalogue.pull)
app.command("push")(versions.push)
app.command("activate")(versions.activate)
app.command("rollback")(versions.rollback)
app.command("verify")(verify.verify)
