"""A place that a request took comes back, however the request ends."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of, until
from tests.integration.known_faults.readings import becomes, recorded, total
from tests.integration.known_faults.scenes import between_these

from hybridge.testing.http import ask, read_head, sent
from hybridge.testing.replies import Cut, cut, fails, hangs, says, slowly

pytestmark = [pytest.mark.anyio, pytest.mark.fault("B34")]

HARD = "Prove that the square root of 2 is irrational."
ENV = {"TEAM_KEY": "sk-team-1", "OTHER_KEY": "sk-other-2"}
TEAM, OTHER = (
    {"authorization": f"Bearer {ENV['TEAM_KEY']}"},
    {"authorization": f"Bearer {ENV['OTHER_KEY']}"},
)
LONG = says(" ".join(["word"] * 400))
BREAKER = {"breaker_failures": 1000, "breaker_window": 1000}
PATHS = {
    "/v1/chat/completions": {},
    "/v1/messages": {"max_tokens": 100},
    "/v1/responses": {"input": HARD, "messages": None},
}


def limited(folder, *, execution=None, cloud=None, records=None, **limits):
    keys = [
        {"name": "team", "key_env": "TEAM_KEY", **limits},
        {"name": "other", "key_env": "OTHER_KEY"},
    ]
    return between_these(
        folder,
        cloud=cloud,
        env=ENV,
        server={"api_keys": keys},
        execution=BREAKER | (execution or {}),
        records={"url": records},
    )


def asked(pair, *, model="c", stream=False, headers=TEAM, **more):
    body = chat(HARD, model=model, stream=stream, **more)
    return ask(port_of(pair.gateway), body=body, headers=headers)


@asynccontextmanager
async def begun(pair, path="/v1/chat/completions", *, model="c"):
    """A stream whose first events have come."""
    body = {**chat(HARD, model=model, stream=True), **PATHS[path]}
    body = {name: value for name, value in body.items() if value is not None}
    async with sent(port_of(pair.gateway), path, body, headers=TEAM) as (reader, writer):
        status, _ = await read_head(reader)
        assert status == 200
        await reader.readuntil(b"word")
        yield reader, writer


async def free(pair) -> None:
    """Returns once no request of the key is under way."""
    await becomes(pair.gateway, 0, "hybridge_key_in_flight", key="team")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("model", ["c", "e"])
async def test_callers_who_hang_up_leave_no_place_taken(tmp_path, path, model):
    async with limited(tmp_path, max_parallel=1) as p:
        for upstream in (p.edge, p.cloud):
            upstream.then(slowly(LONG, between_s=0.02))
        for _ in range(20):
            async with begun(p, path, model=model):
                pass
            await free(p)
        await becomes(p.gateway, 0, "hybridge_in_flight")
        p.cloud.then(says())
        assert (await asked(p)).status == 200


@BOTH_WAYS
@pytest.mark.parametrize(
    "reply",
    [
        fails(500),
        fails(429),
        hangs(),
        cut(says("one two three"), after=1, end=Cut.RESET),
        cut(says("one two three"), after=1, end=float("inf")),
    ],
    ids=["broken", "limited", "silent", "reset", "stalled"],
)
async def test_nor_do_upstreams_that_fail(tmp_path, reply, stream):
    slow = {"timeouts": {"first_byte_s": 0.5, "between_chunks_s": 0.5, "total_s": 1.0}}
    async with limited(tmp_path, max_parallel=1, cloud=slow) as p:
        p.cloud.then(reply)
        for _ in range(3):
            await asked(p, stream=stream)
        p.cloud.then(says())
        await asked(p, model="no-such-model", stream=stream)
        await ask(port_of(p.gateway), body=b"{", headers=TEAM)
        odd = f'{{"model":"c","messages":[{{"role":"user","content":"{chr(92)}ud83d"}}]}}'
        await ask(port_of(p.gateway), body=odd.encode(), headers=TEAM)
        await asked(p, stream=stream, headers={**TEAM, "x-hybridge-route": "nowhere"})
        await free(p)
        for _ in range(20):
            if (got := await asked(p, stream=stream)).status == 200:
                break
            await asyncio.sleep(0.5)  # a cloud that asked to be left alone is
        assert got.status == 200, got.body


@BOTH_WAYS
async def test_who_is_refused_for_want_of_a_place_keeps_its_allowance(tmp_path, stream):
    """Two a minute, one at once: A runs, B is refused, A ends, C runs, D is one too many."""
    async with limited(tmp_path, max_parallel=1, rpm=2) as p:
        p.cloud.then(slowly(LONG, between_s=0.02), says())
        async with begun(p):
            refused = await asked(p, stream=stream)
            assert (refused.status, refused.json["error"]["code"]) == (429, "rate_limit_exceeded")
            assert int(refused.headers["retry-after"]) >= 1
            assert (await asked(p, headers=OTHER)).status == 200, "another key is another matter"
        await free(p)
        assert (await asked(p, stream=stream)).status == 200
        over = await asked(p, stream=stream)
        assert (over.status, over.json["error"]["code"]) == (429, "rate_limit_exceeded")
        assert 1 <= int(over.headers["retry-after"]) <= 60
        refusals = [
            await total(p.gateway, "hybridge_rate_limited_total", key="team", limit=limit)
            for limit in ("max_parallel", "rpm")
        ]
    assert refusals == [1, 1]


async def test_one_a_minute_and_one_at_once(tmp_path):
    async with limited(tmp_path, max_parallel=1, rpm=1) as p:
        p.cloud.then(slowly(LONG, between_s=0.02), says())
        async with begun(p):
            assert (await asked(p)).status == 429
        await free(p)
        refused = await asked(p)
        assert (refused.status, refused.json["error"]["code"]) == (429, "rate_limit_exceeded")
        assert await total(p.gateway, "hybridge_rate_limited_total", limit="rpm") == 1


async def test_what_came_before_the_cut_is_on_the_bill(tmp_path):
    database = tmp_path / "records.db"
    async with limited(tmp_path, max_parallel=1, records=f"sqlite+aiosqlite:///{database}") as p:
        p.cloud.then(slowly(LONG, between_s=0.02))
        for _ in range(3):
            async with begun(p) as (reader, _):
                for _ in range(5):
                    await reader.readuntil(b"word")
            await free(p)
        spent = await total(p.gateway, "hybridge_budget_spent_usd", period="daily", key="*")
        await until(lambda: all(post.gone.is_set() for post in p.cloud.posts), "the hang-up")
    rows = recorded(database)
    assert len(rows) == 3
    for row in rows:
        assert row["error"] == "cancelled"
        assert row["prompt_tokens"] >= 10
        assert row["completion_tokens"] >= 6
        assert row["cost_usd"] is not None
    assert spent > 0
