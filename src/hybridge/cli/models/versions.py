"""`hybridge models push`, `activate` and `rollback`: versions of local models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.modelstore.pointer import Pointer

Name = Annotated[str, typer.Argument(help="The model's name in the store.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it goes into the history.")]


def push(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A .gguf file, or a folder that is a model.")],
    note: Annotated[str, typer.Option("--note", help="What should be known of it.")] = "",
    metrics: Annotated[
        Path | None,
        typer.Option("--metrics", metavar="FILE", help="JSON with what was measured of it."),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Puts a model into the store as a new version; `activate` puts it to work."""
    from hybridge import wiring
    from hybridge.cli.progress import downloading
    from hybridge.edge.genai_folder import is_genai, read_folder

    if is_genai(path):
        read_folder(path)  # raises for one that no engine could load
    store, measured = wiring.model_library(settings_of(config)).store, _read(metrics)
    with downloading(f"pushing {path.name}") as advance:
        made = store.push(name, path, note=note, metrics=measured, progress=advance)
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(made).decode())
        return
    typer.echo(f"{name} {made.version} ({made.size_bytes / 1e6:.1f} MB) is in the store")
    if (latest := store.all(name)[0].version) != made.version:
        typer.echo(
            f"it was there already, and {latest} came later: put it to work with "
            f"`hybridge models activate {name} {made.version}`"
        )


def activate(
    name: Name,
    version: Annotated[
        str | None,
        typer.Argument(help="Default: the one on trial, else the one that was pushed last."),
    ] = None,
    canary: Annotated[
        float | None,
        typer.Option("--canary", min=0, max=1, help="Share of requests it gets at first."),
    ] = None,
    reason: Reason = "",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Puts a version to work. Running gateways load it, try it and then switch, or take it back."""
    from hybridge import wiring

    library = wiring.model_library(settings_of(config))
    pointer = library.store.activate(
        name, version, share=canary, reason=reason, reads=library.is_here
    )
    _tell(name, pointer, as_json=as_json)


def rollback(name: Name, reason: Reason = "", config: Config = None, as_json: Json = False) -> None:
    """Takes the last step back: ends a trial, else activates the version before."""
    from hybridge import wiring

    pointer = wiring.model_library(settings_of(config)).store.roll_back(name, reason=reason)
    _tell(name, pointer, as_json=as_json)


def _read(metrics: Path | None) -> dict[str, Any]:
    if metrics is None:
        return {}
    import msgspec

    try:
        return msgspec.json.decode(metrics.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        raise typer.BadParameter(f"{metrics}: {error}", param_hint="--metrics") from error


def _tell(name: str, pointer: Pointer, *, as_json: bool) -> None:
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(pointer).decode())
        return
    active = pointer.active or "no version (the catalogue's weights)"
    trial = pointer.trial
    beside = f", {trial.version} gets {trial.share:.0%} of the requests" if trial else ""
    typer.echo(f"{name}: {active} is active{beside}")
