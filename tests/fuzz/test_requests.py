"""Whatever comes in, nothing here breaks: mutated requests of every kind, and no 500.

The whole gateway runs behind its application: parsing, privacy, routing, backends, settlement.
`make fuzz` asks 100,000 times, the test by itself a tenth of that.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
from tests.asgi import call
from tests.fuzz.mutate import mutated
from tests.fuzz.seeds import SEEDS

from hybridge import wiring
from hybridge.server.app import App
from hybridge.settings import parse
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
ROUNDS, TRIES = int(os.environ.get("FUZZ_ROUNDS", "2")), 5_000
_HEADERS = (
    (b"x-hybridge-route", (b"edge", b"cloud", b"auto", b"moon", b"\xff")),
    (b"x-hybridge-max-latency-ms", (b"100", b"-1", b"nan", b"1e999", b"")),
    (b"x-hybridge-privacy", (b"high", b"low", b"\x00")),
    (b"x-session-id", (b"s", b"\xe5\x8c\x97", b"x" * 5000)),
    (b"x-request-id", (b"mine", b"bad id", b"\xff")),
    (b"content-type", (b"application/json", b"text/plain", b"")),
    (b"content-encoding", (b"gzip", b"identity")),
    (b"authorization", (b"Bearer x", b"Basic \xff", b"")),
)


async def asked(app: App, path: str, body: bytes, random: Random) -> int:
    """The status that one request gets, once its answer has been read."""
    headers = [(name, random.choice(values)) for name, values in _HEADERS if random.random() < 0.05]
    status, told = await call(app, path, body, headers)
    assert b"Traceback" not in told
    assert b'"code":"internal"' not in told, (path, body)
    return status


@pytest.mark.parametrize("round_", range(ROUNDS))
async def test_no_request_breaks_the_gateway(round_: int, caplog: pytest.LogCaptureFixture):
    random, found = Random(round_), Counter[int]()
    async with Upstream(says("Hello.", logprob=-0.02)) as up:
        settings = parse(
            {
                "records": {"url": None},
                "edge": {
                    "backends": [
                        {"name": "e", "engine": "openai", "base_url": up.base_url, "model": "small"}
                    ]
                },
                "cloud": {"backends": [{"name": "c", "base_url": up.base_url, "model": "large"}]},
            },
            {},
        )
        async with wiring.open_house(settings) as house:
            for _ in range(TRIES):
                path, good = random.choice(SEEDS)
                body = mutated(good, random)
                status = await asked(house.app, path, body, random)
                assert status != 500, (path, body)
                found[status] += 1
            assert len(house.app.drain) == 0
    assert not [record for record in caplog.records if record.exc_info]
    assert found[200] > TRIES / 20, found
    assert found[400] > TRIES / 20, found
