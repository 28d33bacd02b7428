"""`hybridge models list` and `pull`: the catalogue, and fetching of it."""

from __future__ import annotations

from typing import Annotated

import typer

from hybridge.cli.options import Config, Json, settings_of


def list_models(config: Config = None, as_json: Json = False) -> None:
    """The catalogue, and what of it lies in the model folder."""
    from rich.console import Console
    from rich.table import Table

    from hybridge import wiring
    from hybridge.modelstore.catalogue import CATALOGUE

    store = wiring.model_store(settings_of(config))
    if as_json:
        import msgspec

        rows = [
            {
                "name": model.name,
                "languages": model.languages,
                "size_bytes": model.size_bytes,
                "licence": model.licence,
                "path": str(path) if (path := store.path(model.name)) else None,
            }
            for model in CATALOGUE.values()
        ]
        typer.echo(msgspec.json.encode(rows).decode())
        return
    table = Table("name", "languages", "size", "licence", "here")
    for model in CATALOGUE.values():
        size = f"{model.size_bytes / 1e6:.0f} MB"
        here = str(store.path(model.name) or "no")
        table.add_row(model.name, ", ".join(model.languages), size, model.licence, here)
    Console().print(table)


def pull(
    name: Annotated[str, typer.Argument(help="A name from `hybridge models list`.")],
    config: Config = None,
) -> None:
    """Fetches a model into the model folder; already there means no network at all."""
    from hybridge import wiring
    from hybridge.cli.progress import downloading

    with downloading(f"fetching {name}") as advance:
        path = wiring.fetcher(settings_of(config)).ensure(name, advance)
    typer.echo(str(path))
