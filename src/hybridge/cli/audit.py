"""`hybridge audit`: proves from the records which requests were private and where each went."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli import EXIT_FAILED, EXIT_USAGE
from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.storage.audit.entries import Head
    from hybridge.storage.audit.summary import Wanted
    from hybridge.storage.audit.verify import Audit

_AGO = re.compile(r"(\d+)([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
Expected = list[tuple[str, "Head"]]


def audit(
    config: Config = None,
    records: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE",
            help="The records themselves: an SQLAlchemy URL of an async driver, or an SQLite file. "
            "No configuration is read then.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="24h|DATE", help="Count requests from then on; a date is UTC."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Count requests of one API key.")
    ] = None,
    request: Annotated[
        str | None, typer.Option(metavar="ID", help="Show everything about one request.")
    ] = None,
    head: Annotated[
        bool,
        typer.Option("--head", help="Print `chain seq seal`, to be kept where nobody changes it."),
    ] = False,
    expect: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What `--head` printed before; all of it must hold."),
    ] = None,
    key_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable with the key that seals the trail; may be given again for "
            "older keys.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Checks that no entry of the audit trail was changed, and that nothing private left.

    The seals are always checked from the first entry to the last; `--since`, `--tenant` and
    `--request` choose what is counted. Nothing is written, and a gateway may go on meanwhile. Ends
    with 1 when something was tampered with, or left that must not.
    """
    from hybridge.core.errors import ConfigError
    from hybridge.storage.audit.summary import Wanted

    wanted = Wanted(None if since is None else _moment(since), tenant, request)
    address, keys = _source(config, records, key_env or [])
    found = asyncio.run(_audit(address, wanted, keys, _expected(expect)))
    if not found.chains and not found.problems:
        raise ConfigError("the audit trail is empty: no request has been recorded yet")
    if head:
        _print_tips(found)
    else:
        from hybridge.cli.audited import print_audit, print_json

        (print_json if as_json else print_audit)(found, address)
    if not found.well:
        raise typer.Exit(EXIT_FAILED)
    if request is not None and not found.summary.entries:
        typer.echo(f"no entry about a request {request}", err=True)
        raise typer.Exit(EXIT_USAGE)


async def _audit(address: str, wanted: Wanted, keys: list[bytes], expected: Expected) -> Audit:
    from hybridge.cli.progress import counting
    from hybridge.storage.audit.reader import reading
    from hybridge.storage.audit.verify import verify

    async with reading(address) as reader:
        heads = (await reader.heads()).values()
        total = sum(head.seq for head in heads if isinstance(head.seq, int))
        with counting("checking", total) as advance:
            return await verify(reader, wanted, keys=keys, expected=expected, advance=advance)


def _source(config: Path | None, records: str | None, names: list[str]) -> tuple[str, list[bytes]]:
    """The URL of the records, and the keys that there are."""
    from hybridge.core.errors import ConfigError

    keys = [_key(name) for name in names]
    if records is not None and config is not None:
        raise typer.BadParameter("give --config or --records, not both")
    if records is not None:
        return records if "://" in records else f"sqlite+aiosqlite:///{records}", keys
    settings = settings_of(config)
    if settings.records.url is None:
        raise ConfigError("records.url is null: nothing is recorded, so there is nothing to audit")
    own = settings.secrets.audit
    return settings.records.url, keys if own is None else [own.encode(), *keys]


def _key(name: str) -> bytes:
    import os

    value = os.environ.get(name, "").strip()
    if not value:
        raise typer.BadParameter(f"environment variable {name} is not set", param_hint="--key-env")
    return value.encode()


def _expected(file: Path | None) -> Expected:
    """What `--head` printed before, each with its place; empty lines and `#` comments are let
    be."""
    from hybridge.storage.audit.entries import Head

    if file is None:
        return []
    found: Expected = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read {file}: {error}", param_hint="--expect") from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            match line.split():
                case [chain, seq, seal] if seq.isdecimal():
                    found.append((f"{file}:{number}", Head(chain, int(seq), seal)))
                case _:
                    what = f"{file}:{number} is not `chain seq seal`"
                    raise typer.BadParameter(what, param_hint="--expect")
    return found


def _moment(text: str) -> datetime:
    from hybridge.core.clock import SystemClock

    if ago := _AGO.fullmatch(text):
        try:
            return SystemClock().now() - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        what = f"{text} is neither like 24h, 30m or 7d, nor a date like 2030-01-31T08:00"
        raise typer.BadParameter(what, param_hint="--since") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _print_tips(found: Audit) -> None:
    """Only what holds is worth keeping."""
    from hybridge.cli.audited import problem_line

    for problem in found.problems:
        typer.echo(problem_line(problem), err=True)
    if not found.problems:
        for tip in found.tips:
            typer.echo(str(tip))
