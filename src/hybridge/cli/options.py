"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hybridge.settings import Settings

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help="hybridge.yaml to use. Default: ./hybridge.yaml if there is one, else edge only.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

DEFAULT = Path("hybridge.yaml")


def config_path(config: Path | None) -> Path | None:
    """The file a command reads: the one it was given, else `./hybridge.yaml` if there is one."""
    return config or (DEFAULT if DEFAULT.exists() else None)


def settings_of(config: Path | None, server: Mapping[str, object] | None = None) -> Settings:
    """The settings a command runs with; `server` holds what its own options set, None: not set.

    Raises `ConfigError`.
    """
    from hybridge.settings import load

    settings = load(config_path(config))
    changed = {key: value for key, value in (server or {}).items() if value is not None}
    return settings.with_server(**changed) if changed else settings


def print_json(found: object) -> None:
    """One line for programs."""
    import msgspec

    typer.echo(msgspec.json.encode(found).decode())
