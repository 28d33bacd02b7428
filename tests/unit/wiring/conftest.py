"""A house between two upstreams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from copy import deepcopy
from typing import Any

import pytest
from tests.unit.wiring.scene import Scene, local_row

from hybridge.settings import parse
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import open_house

Play = Callable[..., AbstractAsyncContextManager[Scene]]


@pytest.fixture
def play() -> Play:
    @asynccontextmanager
    async def playing(
        *,
        prepare: Callable[[str], Awaitable[None]] | None = None,
        local: bool = False,
        edge: bool = True,
        cloud: bool = True,
        **sections: Any,
    ) -> AsyncIterator[Scene]:
        """`local`: with an engine of this process beside the others, which `prepare` holds up."""
        sure = says("from the edge", logprob=-0.02)
        async with Upstream(sure) as near, Upstream(says("from the cloud")) as far:
            price = {"input_usd": 2, "output_usd": 8}
            e = {"name": "e", "engine": "openai", "base_url": near.base_url, "model": "small"}
            c = {"name": "c", "base_url": far.base_url, "model": "large", "price": price}
            data = {
                "server": {"port": 0},
                "edge": {"backends": [*([e] if edge else []), *([local_row()] if local else [])]},
                "cloud": {"backends": [c] if cloud else []},
                "records": {"url": None},
                **deepcopy(sections),
            }
            more = {} if prepare is None else {"prepare": prepare}
            async with open_house(parse(data, {}), **more) as house:
                yield Scene(house, near, far, data)

    return playing
