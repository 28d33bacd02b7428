"""`hybridge models verify`: reads every file again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybridge.cli import EXIT_FAILED
from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.modelstore.store import ModelStore
    from hybridge.modelstore.versions import Versions


def verify(
    name: Annotated[str | None, typer.Argument(help="Default: all that are there.")] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Whether every file is what was pushed or fetched, byte for byte; else exit code 1."""
    from hybridge import wiring
    from hybridge.core.errors import ModelError

    settings = settings_of(config)
    found = [
        *_fetched(wiring.model_store(settings), name),
        *_pushed(wiring.model_library(settings).store, name),
    ]
    if name is not None and not found:
        raise ModelError(f"there is nothing of {name} to verify")
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(found).decode())
    else:
        for row in found:
            version = f" {row['version']}" if row["version"] else ""
            said = "; ".join(row["problems"]) or "well"
            typer.echo(f"{row['name']}{version}: {said}")
    if any(row["problems"] for row in found):
        raise typer.Exit(EXIT_FAILED)


def _fetched(store: ModelStore, name: str | None) -> list[dict[str, Any]]:
    """Of the catalogue, as far as it is here."""
    from hybridge.core.errors import ModelError
    from hybridge.modelstore.catalogue import CATALOGUE

    rows = []
    for known in CATALOGUE:
        if name in (None, known) and store.path(known) is not None:
            problems = []
            try:
                store.verify(known)
            except ModelError as error:
                problems.append(str(error))
            rows.append({"name": known, "version": None, "problems": problems})
    return rows


def _pushed(store: Versions, name: str | None) -> list[dict[str, Any]]:
    from hybridge.cli.progress import downloading

    rows = []
    for model in store.names() if name is None else [name]:
        for manifest in store.all(model):
            with downloading(f"reading {model} {manifest.version}") as advance:
                problems = [str(flaw) for flaw in store.verify(manifest, advance)]
            rows.append({"name": model, "version": manifest.version, "problems": problems})
    return rows
