"""One gateway serves all tests of a module, since it takes seconds to start."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.integration.running import Pair, between


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for the module, which its gateway's upstreams live in."""
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncIterator[Pair]:
    """A gateway between two upstreams under the module's `CONFIG`."""
    config = getattr(request.module, "CONFIG", {})
    async with between(tmp_path_factory.mktemp("gateway"), config) as pair:
        yield pair


@pytest.fixture
async def scene(shared: Pair) -> Pair:
    """The same, with nothing left of the test before."""
    for upstream in (shared.edge, shared.cloud):
        upstream.requests.clear()
    return shared
