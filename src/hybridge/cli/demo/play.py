"""Plays the demo's scenes against a gateway that is started for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pyqwest import Client

from hybridge import wiring
from hybridge.cli.demo.client import ask
from hybridge.cli.demo.scenes import SCENES, Act
from hybridge.cli.demo.standin import MODEL, StandIn
from hybridge.cli.demo.table import Row
from hybridge.cli.loopback import loopback
from hybridge.cli.progress import counting, downloading
from hybridge.core.errors import ConfigError
from hybridge.server.serve import Listener
from hybridge.settings import Settings, parse

EDGE_MODEL = "qwen2.5-0.5b"
GPT_4O = {"input_usd": "2.5", "output_usd": "10"}
"""USD per million tokens; what the stand-in's answers are accounted at."""
RECOVERY_TIMEOUT_S = 30.0

Acts = Mapping[Act, Callable[[], Awaitable[None]]]


async def play(cloud: str | None) -> list[Row]:
    """All scenes in order; one row each."""
    models = [EDGE_MODEL] if cloud else [EDGE_MODEL, MODEL]
    await asyncio.to_thread(_fetch, models)
    async with _cloud(cloud) as (row, stand_in):
        settings = _settings(row)
        async with wiring.open_house(settings) as house, Listener(house.app, settings.server) as at:
            await house.loaded()
            acts = _acts(house, stand_in)
            return await _perform(at.url, acts)


async def _perform(url: str, acts: Acts) -> list[Row]:
    rows = []
    http = Client(loopback())
    with counting("asking", len(SCENES)) as done:
        for scene in SCENES:
            if isinstance(scene, Act):
                if scene in acts:
                    await acts[scene]()
                    rows.append(Row(note=scene.value))
            else:
                rows.append(await ask(http, url, scene))
            done()
    return rows


def _acts(house: wiring.House, stand_in: StandIn | None) -> Acts:
    edge = house.engines["edge"]

    async def revive_edge() -> None:
        await edge.load()
        await _recovered(house, "edge")

    async def revive_cloud() -> None:
        assert stand_in is not None  # noqa: S101 - only then is this act among them
        await stand_in.start()
        await _recovered(house, "cloud")

    acts: dict[Act, Callable[[], Awaitable[None]]] = {
        Act.KILL_EDGE: edge.unload,
        Act.REVIVE_EDGE: revive_edge,
    }
    if stand_in is not None:
        acts |= {Act.KILL_CLOUD: stand_in.kill, Act.REVIVE_CLOUD: revive_cloud}
    return acts


async def _recovered(house: wiring.House, name: str) -> None:
    """Waits until the gateway's own probes have seen that a side is back."""
    async with asyncio.timeout(RECOVERY_TIMEOUT_S):
        while not _is_available(house, name):  # noqa: ASYNC110 - a user can only look
            await asyncio.sleep(0.1)


def _is_available(house: wiring.House, name: str) -> bool:
    return all(b.available for b in house.gateway.status().backends if b.name == name)


@asynccontextmanager
async def _cloud(wanted: str | None) -> AsyncIterator[tuple[dict[str, Any], StandIn | None]]:
    """The cloud's row of configuration, and the stand-in's process where it is one."""
    if wanted is not None:
        provider, colon, model = wanted.partition(":")
        if not colon:
            raise ConfigError("--cloud wants PROVIDER:MODEL, for instance openai:gpt-4o-mini")
        yield {"provider": provider, "model": model}, None
        return
    stand_in = StandIn()
    await stand_in.start()
    try:
        yield {"base_url": stand_in.base_url, "model": MODEL, "price": GPT_4O}, stand_in
    finally:
        await stand_in.kill()


def _settings(cloud: dict[str, Any]) -> Settings:
    return parse(
        {
            "server": {"port": 0},
            "edge": {"backends": [{"name": "edge", "model": EDGE_MODEL}]},
            "cloud": {"backends": [{"name": "cloud", **cloud}]},
            "execution": {"breaker_open_s": 1, "probe_interval_s": 0.5},
            "records": {"url": None},
        }
    )


def _fetch(models: list[str]) -> None:
    fetcher = wiring.fetcher(parse({}))
    for name in models:
        with downloading(f"fetching {name}") as advance:
            fetcher.ensure(name, advance)
