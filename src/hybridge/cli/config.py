"""`hybridge config`: what the configuration says, and whether it can be used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybridge.cli import EXIT_FAILED, EXIT_USAGE
from hybridge.cli.options import Config, Json, config_path

if TYPE_CHECKING:
    from hybridge.core.errors import ConfigError
    from hybridge.settings.problems import Problem
    from hybridge.settings.shown import Value

app = typer.Typer(help="The configuration: check it, show it, convert to it.", no_args_is_help=True)


@app.command()
def check(
    config: Config = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings end with 1.")] = False,
    as_json: Json = False,
) -> None:
    """Reads everything as `hybridge serve` would, and names what is wrong with file and line.

    Ends with 2 when it cannot be used. What can be used and is hardly meant, such as fallbacks in
    a circle or a model without a price, is a warning.
    """
    from hybridge.core.errors import ConfigError
    from hybridge.routing.rules import Rules
    from hybridge.settings.reading import Reading
    from hybridge.settings.warnings import warnings

    path = config_path(config)
    try:
        reading = Reading.of(path)
        settings = reading.settings()
        Rules.load(settings.routing.rules)
    except ConfigError as error:
        _print_findings(path, _problems(error), (), as_json)
        raise typer.Exit(EXIT_USAGE) from error
    found = warnings(reading, settings)
    _print_findings(path, (), found, as_json)
    if found and strict:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def show(config: Config = None, as_json: Json = False) -> None:
    """The settings in force, each with its source; of secrets only whether they are set."""
    import msgspec

    from hybridge.settings.reading import Reading
    from hybridge.settings.shown import values

    reading = Reading.of(config_path(config))
    found = list(values(reading, reading.settings()))
    if as_json:
        from hybridge.settings.problems import dotted

        rows = [msgspec.structs.asdict(value) | {"key": dotted(value.loc)} for value in found]
        told = [{key: row[key] for key in ("key", "value", "source", "secret")} for row in rows]
        typer.echo(msgspec.json.encode(told).decode())
    else:
        typer.echo("\n".join(_as_yaml(found)))


@app.command()
def schema() -> None:
    """The JSON Schema of hybridge.yaml, for editors.

    Write it to a file, and name that in the first line of hybridge.yaml:
    `# yaml-language-server: $schema=hybridge.schema.json`.
    """
    import json

    from hybridge.settings.editors import json_schema

    typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@app.command("import-litellm")
def import_litellm(
    file: Annotated[Path, typer.Argument(help="A LiteLLM proxy's config.yaml.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: standard output.")
    ] = None,
) -> None:
    """Writes a hybridge.yaml for a LiteLLM proxy's configuration.

    What has no counterpart here is listed in it, as comments, and on standard error.
    """
    from hybridge.settings.litellm import convert

    converted = convert(file)
    for note in converted.notes:
        typer.echo(f"{file.name}: {note}", err=True)
    if out is None:
        typer.echo(converted.text, nl=False)
    else:
        out.write_text(converted.text, encoding="utf-8")
        typer.echo(f"written: {out}", err=True)


def _problems(error: ConfigError) -> tuple[Problem, ...]:
    """One by one; errors of the rules' file come as text."""
    from hybridge.settings.problems import Problem, Refused

    if isinstance(error, Refused):
        return error.problems
    return tuple(Problem("", (), line) for line in str(error).splitlines())


def _print_findings(
    path: Path | None, errors: tuple[Problem, ...], found: tuple[Problem, ...], as_json: bool
) -> None:
    if as_json:
        import msgspec

        told = {
            "path": None if path is None else str(path),
            "ok": not errors,
            "errors": [_plain(problem) for problem in errors],
            "warnings": [_plain(problem) for problem in found],
        }
        typer.echo(msgspec.json.encode(told).decode())
        return
    for problem in errors:
        typer.echo(str(problem).removeprefix(": "), err=True)
    for problem in found:
        typer.echo(f"warning: {problem}", err=True)
    what = path or "the defaults"
    typer.echo(f"{what}: {_count(len(errors), 'error')}, {_count(len(found), 'warning')}")


def _plain(problem: Problem) -> dict[str, Any]:
    from hybridge.settings.problems import dotted

    key = dotted(problem.loc) or None
    return {"place": problem.place or None, "key": key, "message": problem.what}


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _as_yaml(found: list[Value]) -> Iterator[str]:
    """Lines of YAML, each value with its source as a comment."""
    before: tuple[str | int, ...] = ()
    for value in found:
        loc = value.loc
        shared = next((i for i, (a, b) in enumerate(zip(before, loc, strict=False)) if a != b), 0)
        for depth in range(shared, len(loc) - 1):
            if isinstance(loc[depth], str):
                yield f"{_lead(loc, depth, shared)}{loc[depth]}:"
        text = f"{_lead(loc, len(loc) - 1, shared)}{loc[-1]}: {_inline(value.value)}"
        secret = "" if value.secret is None else f", {value.secret}"
        yield f"{text:<44} # {value.source}{secret}"
        before = loc


def _lead(loc: tuple[str | int, ...], depth: int, shared: int) -> str:
    """Indentation, and the dash where the key is the first of its row."""
    steps = "  " * depth
    first = depth > shared and depth and isinstance(loc[depth - 1], int)
    return f"{steps[:-2]}- " if first else steps


def _inline(value: Any) -> str:
    """One value as YAML writes it within a line."""
    import yaml

    text = yaml.safe_dump(
        value, default_flow_style=True, width=sys.maxsize, allow_unicode=True
    ).strip()
    return text.removesuffix("...").strip()
