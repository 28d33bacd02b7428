"""The upstream that misbehaves on order, as a plain client sees it."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest

from hybridge.testing.http import ask, sent
from hybridge.testing.replies import (
    END,
    Cut,
    Reply,
    answers,
    byte_by_byte,
    cut,
    fails,
    hangs,
    page,
    says,
    slowly,
    streams,
)
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
STREAM = {"model": "m", "stream": True}
WITH_USAGE = STREAM | {"stream_options": {"include_usage": True}}


def port_of(upstream: Upstream) -> int:
    return urlsplit(upstream.base_url).port or 0


async def answer(reply: Reply, body: object = None):
    async with Upstream(reply) as upstream:
        return await ask(port_of(upstream), body=body or {"model": "m"})


def told(events: list[str]) -> list[dict]:
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


async def test_it_answers_in_json_and_in_streams():
    whole = (await answer(says("你 好"))).json
    assert whole["choices"][0]["message"]["content"] == "你 好"
    assert whole["model"] == "m"
    chunks = told((await answer(says("你 好"), STREAM)).events)
    assert [c["choices"][0]["delta"].get("content") for c in chunks] == ["", "你", " 好", None]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("usage", "body", "places"),
    [
        ("own", WITH_USAGE, [False, False, False, True]),
        ("own", STREAM, [False, False, False]),
        ("finish", STREAM, [False, False, True]),
        ("none", WITH_USAGE, [False, False, False]),
    ],
)
async def test_where_usage_comes(usage, body, places):
    chunks = told((await answer(says("a", usage=usage), body)).events)
    assert ["usage" in c for c in chunks] == places


async def test_logprobs_come_only_when_asked_for():
    reply = says("a b", logprob=-0.5)
    assert "logprobs" not in (await answer(reply)).json["choices"][0]
    asked = (await answer(reply, {"logprobs": True})).json["choices"][0]
    assert [t["logprob"] for t in asked["logprobs"]["content"]] == [-0.5, -0.5]
    chunks = told((await answer(reply, STREAM | {"logprobs": True})).events)
    assert sum("logprobs" in c["choices"][0] for c in chunks) == 2


async def test_failures():
    got = await answer(fails(429, "slow down", code="busy", headers={"retry-after": "3"}, n_ctx=5))
    assert (got.status, got.headers["retry-after"]) == (429, "3")
    assert got.json["error"]["code"] == "busy"
    assert got.json["error"]["n_ctx"] == 5
    html = await answer(page())
    assert (html.status, html.headers["content-type"]) == (502, "text/html")


@pytest.mark.parametrize("body", [{"model": "m"}, STREAM])
async def test_byte_by_byte_says_the_same(body):
    assert (await answer(byte_by_byte(says("你好")), body)).body == (
        await answer(says("你好"), body)
    ).body


async def test_slowly_says_the_same():
    quick = await answer(says("a b"), STREAM)
    assert (
        await answer(slowly(says("a b"), first_s=0.01, between_s=0.01), STREAM)
    ).body == quick.body


@pytest.mark.parametrize(
    ("end", "error"),
    [(Cut.RESET, ConnectionError), (Cut.CLOSE, asyncio.IncompleteReadError)],
)
async def test_connections_are_cut(end, error):
    with pytest.raises(error):
        await answer(cut(says("a b c"), after=1, end=end), STREAM)


async def test_a_tidy_end_without_a_finish():
    got = await answer(cut(says("a b c"), after=2, end=END), STREAM)
    chunks = [json.loads(event) for event in got.events]
    assert [c["choices"][0]["delta"]["content"] for c in chunks] == ["", "a", " b"]


async def test_own_events_pass_as_they_are():
    got = await answer(streams({"a": 1}, b": hm\n\n", done=False), STREAM)
    assert got.body == b'data: {"a":1}\n\n: hm\n\n'


@pytest.mark.parametrize("reply", [hangs(), cut(says(), after=1, end=float("inf"))])
async def test_it_sees_who_hangs_up(reply):
    async with Upstream(reply) as upstream:
        async with sent(port_of(upstream), body=STREAM):
            while not upstream.posts:
                await asyncio.sleep(0.01)
            assert not upstream.posts[0].gone.is_set()
        await asyncio.wait_for(upstream.posts[0].gone.wait(), 5)


async def test_it_records_what_it_received_and_answers_in_order():
    async with Upstream(says("one"), answers({"n": 2})) as upstream:
        port = port_of(upstream)
        await ask(port, body={"a": "你"}, headers={"X-Own": "v"})
        assert [(await ask(port)).json for _ in range(2)] == [{"n": 2}] * 2
        models = (await ask(port, "/v1/models", method="GET")).json
        upstream.get_with(fails(503))
        assert (await ask(port, "/v1/models", method="GET")).status == 503
        upstream.then(says("new"))
        assert (await ask(port)).json["choices"][0]["message"]["content"] == "new"
    first = upstream.posts[0]
    assert (first.method, first.json, first.headers["x-own"]) == ("POST", {"a": "你"}, "v")
    assert models["object"] == "list"
    assert (len(upstream.posts), len(upstream.requests)) == (4, 6)
    assert upstream.connections == 6


async def test_dropped_connections_end_and_new_ones_are_taken():
    async with Upstream() as upstream:
        async with sent(port_of(upstream)) as (reader, _):
            await reader.readuntil(b"\r\n\r\n")
            upstream.drop_connections()
            await asyncio.wait_for(reader.read(), 5)
        assert (await ask(port_of(upstream))).status == 200
