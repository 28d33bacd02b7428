"""`hybridge doctor`: is everything here that the gateway needs?"""

from __future__ import annotations

import asyncio
import platform
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from hybridge._version import __version__
from hybridge.cli import EXIT_FAILED, EXIT_USAGE
from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.settings import Settings

MARKS = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "fail": "[red]fail[/]"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    verdict: Literal["ok", "warn", "fail"]
    said: str


def doctor(config: Config = None, as_json: Json = False) -> None:
    """Checks configuration, models, cores, port and every backend. Ends with 1 when one fails."""
    from hybridge.core.errors import ConfigError

    try:
        settings = settings_of(config)
    except ConfigError as error:
        _print([Finding("configuration", "fail", str(error))], as_json)
        raise typer.Exit(EXIT_USAGE) from error
    findings = [
        *_machine(),
        *_models(settings),
        *_genai(settings),
        _encoder(settings),
        *_port(settings),
        *asyncio.run(_backends(settings)),
    ]
    _print(findings, as_json)
    if any(finding.verdict == "fail" for finding in findings):
        raise typer.Exit(EXIT_FAILED)


def _machine() -> Iterator[Finding]:
    from hybridge.edge.threads import cores

    yield Finding("hybridge", "ok", f"{__version__} on Python {platform.python_version()}")
    yield Finding("cores", "ok" if cores() > 1 else "warn", f"{cores()} for this process")


def _models(settings: Settings) -> Iterator[Finding]:
    from hybridge import wiring
    from hybridge.core.errors import HybridgeError
    from hybridge.modelstore.catalogue import CATALOGUE

    store = wiring.model_store(settings)
    for name in wiring.catalogue_models(settings):
        path = store.path(name)
        size = f"{CATALOGUE[name].size_bytes / 1e6:.0f} MB"
        if path is not None:
            yield Finding(f"model {name}", "ok", str(path))
        else:
            said = (
                f"not here yet; the first `serve`, or `hybridge models pull {name}`, fetches {size}"
            )
            yield Finding(f"model {name}", "warn", said)
    for name in wiring.stored_models(settings):
        try:
            yield Finding(
                f"model {name}", "ok", f"version {wiring.model_library(settings).active(name)}"
            )
        except HybridgeError as error:
            yield Finding(f"model {name}", "fail", str(error))
    for row in settings.edge.backends:
        if row.engine == "llamacpp" and row.model.endswith(".gguf"):
            found = Path(row.model).is_file()
            yield Finding(
                f"model {row.model}", "ok" if found else "fail", "here" if found else "no such file"
            )


def _genai(settings: Settings) -> Iterator[Finding]:
    """Models of engine `ortgenai`: its library, the folder's files, loading, and a few words."""
    from hybridge import wiring
    from hybridge.core.errors import HybridgeError

    for row in settings.edge.backends:
        if row.engine != "ortgenai":
            continue
        what = f"backend {row.name}"
        try:
            took_s = asyncio.run(wiring.try_ortgenai(row, settings))
        except HybridgeError as error:
            yield Finding(what, "fail", str(error))
        else:
            yield Finding(what, "ok", f"{row.model} loaded and answered in {took_s:.1f} s")


def _encoder(settings: Settings) -> Finding:
    from hybridge import wiring
    from hybridge.edge.sessions import CPU, TITLES

    encoder = wiring.encoder(settings)
    encoder.close()
    on, wanted = encoder.provider, settings.scorer.provider
    passed = f" ({'; '.join(encoder.passed_over)})" if encoder.passed_over else ""
    said = f"on {TITLES[on]}, loaded and warm in {encoder.load_s:.2f} s{passed}"
    lacking = on == CPU and wanted not in ("auto", "cpu")
    return Finding("scorer", "warn" if lacking else "ok", said)


def _port(settings: Settings) -> Iterator[Finding]:
    at = settings.server
    with socket.socket(socket.AF_INET6 if ":" in at.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((at.host, at.port))
        except OSError as error:
            yield Finding(
                "port", "warn", f"{at.host}:{at.port} is taken or not ours: {error.strerror}"
            )
        else:
            yield Finding("port", "ok", f"{at.host}:{at.port} is free")


async def _backends(settings: Settings) -> list[Finding]:
    from hybridge import wiring
    from hybridge.core.errors import BackendError
    from hybridge.core.request import Tier

    findings = []
    async with wiring.open_house(settings, load=False) as house:
        for backend in house.remote.values():
            spec = backend.spec
            try:
                await backend.probe()
            except BackendError as error:
                findings.append(Finding(f"backend {spec.name}", "fail", str(error)))
            else:
                findings.append(Finding(f"backend {spec.name}", "ok", f"{spec.model} answers"))
            if spec.tier is Tier.CLOUD and spec.price is None:
                said = f"no price known for {spec.model}: its cost is unknown; set `price`"
                findings.append(Finding(f"price {spec.name}", "warn", said))
    if not settings.cloud.backends:
        said = "none configured: what belongs there is answered by the edge and marked"
        findings.append(Finding("cloud", "warn", said))
    return findings


def _print(findings: list[Finding], as_json: bool) -> None:
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode([asdict(finding) for finding in findings]).decode())
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for finding in findings:
        table.add_row(MARKS[finding.verdict], f"[bold]{finding.what}[/]", finding.said)
    Console().print(table)
