"""`hybridge models`: what there is, fetching, making and timing it, and its versions."""

from __future__ import annotations

import typer

from hybridge.cli.models import bench, catalogue, export, quantize, verify, versions

app = typer.Typer(help="Local models and their versions.", no_args_is_help=True)

app.command("list")(catalogue.list_models)
app.command("pull")(catalogue.pull)
app.command("export")(export.export)
app.command("quantize")(quantize.quantize)
app.command("bench")(bench.bench)
app.command("push")(versions.push)
app.command("activate")(versions.activate)
app.command("rollback")(versions.rollback)
app.command("verify")(verify.verify)
