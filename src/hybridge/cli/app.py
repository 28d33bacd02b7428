"""Which commands there are. Each module imports its heavy parts when its command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from hybridge._version import __version__
from hybridge.cli import audit, chat, config, demo, doctor, explain, models, serve, train

app = typer.Typer(
    name="hybridge",
    help="A hybrid inference gateway: every request runs on the model of this device, on a cloud "
    "LLM, or on both.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(serve.serve)
app.command()(demo.demo)
app.command()(chat.chat)
app.command()(explain.explain)
app.command()(train.train)
app.command()(audit.audit)
app.command()(doctor.doctor)
app.add_typer(models.app, name="models")
app.add_typer(config.app, name="config")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hybridge {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Global options."""
