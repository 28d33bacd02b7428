"""`hybridge serve`: the gateway."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli.options import Config, settings_of

if TYPE_CHECKING:
    from hybridge.settings import Settings


def serve(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0: any free one.")] = None,
) -> None:
    """Runs the gateway. With nothing configured: edge only, on 127.0.0.1:8686."""
    from hybridge import wiring
    from hybridge.cli.progress import downloading
    from hybridge.core.redaction import Redactor
    from hybridge.server.serve import run
    from hybridge.telemetry.logs import configure

    settings = settings_of(config, {"host": host, "port": port})
    for name in wiring.catalogue_models(settings):
        with downloading(f"fetching {name}") as advance:
            wiring.fetcher(settings).ensure(name, advance)
    configure(sys.stderr, Redactor(settings.secrets.values))
    run(_serve(settings))


async def _serve(settings: Settings) -> None:
    from hybridge import wiring
    from hybridge.server.serve import Listener

    async with (
        wiring.open_house(settings) as house,
        Listener(house.app, settings.server) as listener,
    ):
        _settle_down()
        typer.echo(f"Hybridge is listening on {listener.url}", err=True)
        await listener.until_stopped()


def _settle_down() -> None:
    """What was built so far stays, so the garbage collector need not look at it ever again.

    A look at all of it takes 80 ms, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
