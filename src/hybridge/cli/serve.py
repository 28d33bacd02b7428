"""`hybridge serve`: the gateway."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli.options import Config, config_path, settings_of

if TYPE_CHECKING:
    from hybridge.settings import Settings
    from hybridge.wiring import House, Secrecy


def serve(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0: any free one.")] = None,
) -> None:
    """Runs the gateway. With nothing configured: edge only, on 127.0.0.1:8686.

    It listens at once and loads local models meanwhile. A change of the configuration file or of
    the rules is taken over while it runs, and so is SIGHUP; a bad one is refused and logged.
    """
    from hybridge.privacy.mask import masked
    from hybridge.server.serve import run
    from hybridge.telemetry.logs import configure
    from hybridge.wiring import Secrecy

    path = config_path(config)

    def read() -> Settings:
        return settings_of(path, {"host": host, "port": port})

    settings, redact = read(), Secrecy()
    redact.learn(settings.secrets.values)
    configure(sys.stderr, lambda text: masked(redact(text)))
    run(_serve(settings, read, path, redact))


async def _serve(
    settings: Settings, read: Callable[[], Settings], path: Path | None, redact: Secrecy
) -> None:
    from hybridge import wiring
    from hybridge.cli.fetch import fetch
    from hybridge.server.serve import Listener

    prepare = fetch(settings)
    async with (
        wiring.open_house(settings, path=path, redact=redact, prepare=prepare) as house,
        Listener(house.app, settings.server) as listener,
    ):
        _settle_down()
        typer.echo(f"Hybridge is listening on {listener.url}", err=True)
        async with _telling_when_ready(house), _reloading(house, read, path, redact):
            await listener.until_stopped()


def _reloading(
    house: House, read: Callable[[], Settings], path: Path | None, redact: Secrecy
) -> AbstractAsyncContextManager[object]:
    from hybridge import wiring

    return nullcontext() if path is None else wiring.reloading(house, read, path, redact)


@asynccontextmanager
async def _telling_when_ready(house: House) -> AsyncIterator[None]:
    """Says so once the local models are there; what keeps one away is in the log."""
    from hybridge.core.errors import ModelError

    async def tell() -> None:
        try:
            await house.loaded()
        except ModelError:
            typer.echo("Hybridge goes on without a model; the log above says why", err=True)
        else:
            typer.echo("Hybridge is ready", err=True)

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()


def _settle_down() -> None:
    """What was built so far stays, so the garbage collector need not look at it ever again.

    A look at all of it takes 80 ms, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
