"""Gateways between two upstreams whose rows of the configuration say more than usual."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.integration.running import Pair, running

from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream

PRICE = {"input_usd": 2.5, "output_usd": 10}
EDGE_SAYS, CLOUD_SAYS = "Hello from the edge.", "Hello from the cloud."


@asynccontextmanager
async def between_these(
    folder: Path,
    *,
    edge: Mapping[str, Any] | None = None,
    cloud: Mapping[str, Any] | None = None,
    env: dict[str, str] | None = None,
    **config: Any,
) -> AsyncIterator[Pair]:
    """A gateway with one edge and one cloud; `edge` and `cloud` add to their rows."""
    sure, large = says(EDGE_SAYS, logprob=-0.02), says(CLOUD_SAYS)
    async with Upstream(sure) as below, Upstream(large) as above:
        small_row = {"name": "e", "engine": "openai", "base_url": below.base_url, "model": "small"}
        large_row = {"name": "c", "base_url": above.base_url, "model": "large", "price": PRICE}
        backends = {
            "edge": {"backends": [small_row | dict(edge or {})]},
            "cloud": {"backends": [large_row | dict(cloud or {})]},
        }
        async with running(folder, backends | config, env=env) as gateway:
            yield Pair(gateway, below, above)
