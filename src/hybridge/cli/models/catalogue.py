"""`hybridge models list` and `pull`: what there is, and fetching of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.modelstore.manifest import Manifest
    from hybridge.modelstore.pointer import Pointer
    from hybridge.modelstore.store import ModelStore
    from hybridge.modelstore.versions import Versions

Row = dict[str, Any]


def list_models(config: Config = None, as_json: Json = False) -> None:
    """The catalogue, what of it lies in the model folder, and the versions in the store."""
    from hybridge import wiring
    from hybridge.core.errors import ModelError

    settings = settings_of(config)
    rows = {row["name"]: row for row in _catalogue(wiring.model_store(settings))}
    failed: ModelError | None = None
    try:
        for row in _versions(wiring.model_library(settings).store):
            rows[row["name"]] = rows.get(row["name"], {}) | row
    except ModelError as error:
        failed = error  # the catalogue is told all the same
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(list(rows.values())).decode())
    else:
        _show(list(rows.values()))
    if failed is not None:
        raise failed


def pull(
    name: Annotated[
        str, typer.Argument(help="A name from `hybridge models list`, or NAME@VERSION of a store.")
    ],
    config: Config = None,
) -> None:
    """Fetches a model into the model folder; already there means no network at all."""
    from hybridge import wiring
    from hybridge.cli.progress import downloading
    from hybridge.modelstore.catalogue import CATALOGUE

    settings = settings_of(config)
    model, _, version = name.partition("@")
    with downloading(f"fetching {name}") as advance:
        if not version and model in CATALOGUE:
            path = wiring.fetcher(settings).ensure(model, advance)
        else:
            library = wiring.model_library(settings)
            path = library.bring(model, version or library.active(model), advance)
    typer.echo(str(path))


def _catalogue(store: ModelStore) -> Iterator[Row]:
    from hybridge.modelstore.catalogue import CATALOGUE

    for model in CATALOGUE.values():
        yield {
            "name": model.name,
            "languages": model.languages,
            "size_bytes": model.size_bytes,
            "licence": model.licence,
            "path": str(path) if (path := store.path(model.name)) else None,
        }


def _versions(store: Versions) -> Iterator[Row]:
    for name in store.names():
        pointer = store.pointer(name)
        yield {
            "name": name,
            "active": pointer.active,
            "trial": pointer.trial,
            "last": pointer.last,
            "versions": [_version(one, pointer) for one in store.all(name)],
        }


def _version(manifest: Manifest, pointer: Pointer) -> Row:
    state = "active" if manifest.version == pointer.active else ""
    if pointer.trial is not None and manifest.version == pointer.trial.version:
        state = f"canary {pointer.trial.share:.0%}"
    return {
        "version": manifest.version,
        "state": state,
        "kind": manifest.kind,
        "size_bytes": manifest.size_bytes,
        "made_at": manifest.made_at,
        "note": manifest.note,
        "metrics": manifest.metrics,
    }


def _show(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("name", "languages", "size", "licence", "here")
    for row in (row for row in rows if "licence" in row):
        size = f"{row['size_bytes'] / 1e6:.0f} MB"
        languages = ", ".join(row["languages"])
        table.add_row(row["name"], languages, size, row["licence"], row["path"] or "no")
    console.print(table)
    stored = [row for row in rows if "versions" in row]
    if not stored:
        return
    table = Table("name", "version", "", "kind", "size", "pushed", "note", title="versions")
    for row in stored:
        for one in row["versions"]:
            size, pushed = f"{one['size_bytes'] / 1e6:.1f} MB", f"{one['made_at']:%Y-%m-%d %H:%M}"
            state, kind, note = one["state"], one["kind"], one["note"]
            table.add_row(row["name"], one["version"], state, kind, size, pushed, note)
    console.print(table)
    for row in stored:
        if (last := row["last"]) is not None:
            why = f": {last.reason}" if last.reason else ""
            about = last.version or "the catalogue's weights"
            said = f"{row['name']}: {about} {last.what} by the {last.by}, {last.at:%Y-%m-%d %H:%M}"
            console.print(said + why, highlight=False)
