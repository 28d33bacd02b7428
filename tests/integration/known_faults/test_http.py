"""Faults of the door itself: keys, browsers, bodies, silence, the end of the process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of

from hybridge.testing.http import ask, read, read_head, sent
from hybridge.testing.replies import fails, says, slowly
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
CHAT = "/v1/chat/completions"
MB = 2**20


def picture(size: int):
    url = "data:image/png;base64," + "iVBORw0KGgo" + "A" * (size - 11 - size % 4 + 0)
    url += "A" * (-len(url.partition(",")[2]) % 4)
    parts = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    return {"model": "c", "messages": [{"role": "user", "content": parts}]}


@pytest.mark.fault("B05")
async def test_silence_is_filled_with_comments_and_the_head_comes_early(pair):
    async with pair(server={"early_headers_s": 0.5, "keepalive_s": 0.5}) as p:
        p.cloud.then(slowly(says("At last."), first_s=3.0))
        async with sent(port_of(p.gateway), body=chat(model="c", stream=True)) as (reader, _):
            status, _ = await read_head(reader)
            assert status == 200
            rest = await reader.readuntil(b"[DONE]")
    assert rest.count(b": keep-alive") >= 2
    assert b"At" in rest


@pytest.mark.fault("B05")
async def test_with_comments_off_there_are_none_and_the_head_waits(pair):
    async with pair(server={"keepalive_s": None}) as p:
        p.cloud.then(slowly(says("At last."), first_s=0.5, between_s=0.3))
        got = await ask(port_of(p.gateway), body=chat(model="c", stream=True))
    assert got.events[-1] == "[DONE]"
    assert b"\n:" not in got.body


@pytest.mark.fault("B05")
async def test_a_failure_after_an_early_head_comes_as_an_event(pair):
    async with pair(server={"early_headers_s": 0.3}) as p:
        p.cloud.then(slowly(fails(500), first_s=1.5))
        got = await ask(port_of(p.gateway), body=chat(model="c", stream=True))
    events = [block for block in got.body.decode().split("\n\n") if block.startswith("data: ")]
    assert got.status == 200
    assert len(events) == 1
    assert json.loads(events[0][6:])["error"]["message"]


SECRET, PROVIDERS = "sk-caller-5f1c9a7e2b", "sk-provider-8d3e6f4a1c"


@pytest.mark.fault("B49")
@BOTH_WAYS
async def test_no_secret_comes_out_anywhere(start, tmp_path, stream):
    """The provider echoes its key in its error; wrong keys of every kind are tried."""
    echo = fails(401, f"Incorrect API key provided: {PROVIDERS}. Header: Bearer {PROVIDERS}")
    async with Upstream(echo) as up:
        config = {
            "server": {"api_keys": [{"name": "team", "key_env": "TEAM_KEY"}]},
            "edge": {"backends": []},
            "cloud": {
                "backends": [
                    {
                        "name": "c",
                        "base_url": up.base_url,
                        "model": "m",
                        "api_key_env": "UP_KEY",
                    }
                ]
            },
        }
        async with start(
            config, env={"TEAM_KEY": SECRET, "UP_KEY": PROVIDERS, "HYBRIDGE_LOG": "debug"}
        ) as gateway:
            said = []
            for key in (SECRET[:-1], SECRET + "x", SECRET[:9], "k" * 10_240, "ключ-密钥", ""):
                got = await ask(
                    port_of(gateway),
                    body=chat(stream=stream),
                    headers={"authorization": f"Bearer {key}"},
                )
                assert (got.status, got.json["error"]["code"]) == (401, "invalid_api_key")
                said.append(got.body)
            assert len(set(said)) == 1
            got = await ask(
                port_of(gateway),
                body=chat(model="c", stream=stream),
                headers={"authorization": f"Bearer {SECRET}"},
            )
            assert got.status == 502
            said.append(got.body)
            for path in ("/metrics", "/healthz", "/readyz", "/v1/models", "/openapi.json"):
                said.append(
                    (
                        await ask(
                            port_of(gateway), path, method="GET", headers={"x-api-key": SECRET}
                        )
                    ).body
                )
    said.append((tmp_path / "gateway.log").read_bytes())
    for secret in (SECRET, PROVIDERS):
        assert secret[:10].encode() not in b"".join(said)


ALLOWED, FOREIGN = "https://app.example.com", "https://evil.example.net"
WANTED = "authorization,content-type,x-stainless-lang,x-stainless-retry-count"


PATHS = (CHAT, "/v1/messages", "/v1/responses", "/v1/embeddings", "/v1/models")


@pytest.mark.fault("B57")
async def test_a_browser_asks_beforehand_without_a_key(start):
    config = {
        "server": {"cors_origins": [ALLOWED], "api_keys": [{"name": "t", "key_env": "K"}]},
        "edge": {"backends": []},
        "cloud": {"backends": [{"name": "c", "base_url": "http://127.0.0.1:9/v1", "model": "m"}]},
    }
    async with start(config, env={"K": "secret-key"}) as gateway:
        for path in PATHS:
            await check_preflight(gateway, path)


async def check_preflight(gateway, path: str) -> None:
    async def before(origin: str):
        asking = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": WANTED,
        }
        return await ask(port_of(gateway), path, method="OPTIONS", headers=asking)

    let_in, kept_out = await before(ALLOWED), await before(FOREIGN)
    assert let_in.status in (200, 204)
    assert let_in.headers["access-control-allow-origin"] == ALLOWED
    assert all(
        name in let_in.headers["access-control-allow-headers"].lower() for name in WANTED.split(",")
    )
    assert "access-control-allow-origin" not in kept_out.headers
    refused = await ask(
        port_of(gateway),
        path,
        {},
        headers={"origin": ALLOWED},
        method="GET" if path == "/v1/models" else "POST",
    )
    assert refused.status == 401
    assert refused.headers["access-control-allow-origin"] == ALLOWED
    assert let_in.headers.get("access-control-allow-credentials") is None


@pytest.mark.fault("B57")
@BOTH_WAYS
async def test_a_browser_reads_the_answer_and_its_headers(pair, stream):
    async with pair(server={"cors_origins": [ALLOWED]}) as p:
        got = await ask(port_of(p.gateway), body=chat(stream=stream), headers={"origin": ALLOWED})
        foreign = await ask(
            port_of(p.gateway), body=chat(stream=stream), headers={"origin": FOREIGN}
        )
    assert (got.status, got.headers["access-control-allow-origin"]) == (200, ALLOWED)
    assert "x-hybridge-route" in got.headers["access-control-expose-headers"].lower()
    assert "access-control-allow-origin" not in foreign.headers


@pytest.mark.fault("B57")
async def test_without_origins_configured_no_page_gets_in(scene):
    p = scene
    got = await ask(port_of(p.gateway), body=chat(), headers={"origin": ALLOWED})
    assert "access-control-allow-origin" not in got.headers


@pytest.mark.fault("B58")
@pytest.mark.parametrize("size", [900_000, 5_000_000])
async def test_a_large_picture_arrives_whole(scene, size):
    p = scene
    body = picture(size)
    got = await ask(port_of(p.gateway), body=body)
    assert got.status == 200
    [post] = p.cloud.posts
    assert post.json["messages"] == body["messages"]


@pytest.mark.fault("B58")
@pytest.mark.parametrize("way", ["length", "chunked"])
async def test_beyond_the_limit_it_is_413_before_all_of_it_is_read(scene, way):
    p = scene
    headers = (
        {"content-length": str(20 * MB)} if way == "length" else {"transfer-encoding": "chunked"}
    )
    async with sent(port_of(p.gateway), body=b"", headers=headers) as (reader, writer):
        piece = b"x" * MB
        framed = piece if way == "length" else b"%x\r\n%b\r\n" % (len(piece), piece)
        for _ in range(17 if way == "chunked" else 1):
            writer.write(framed)
        got = await read(reader)
    assert got.status == 413
    assert "16 MB" in got.json["error"]["message"]
    assert got.json["error"]["code"] == "request_too_large"


@pytest.mark.fault("B58")
async def test_expect_continue_a_slow_body_and_a_connection_used_again(scene):
    p = scene
    body = json.dumps(chat()).encode()
    headers = {"expect": "100-continue", "content-length": str(len(body))}
    async with sent(port_of(p.gateway), body=b"", headers=headers) as (reader, writer):
        assert b"100 Continue" in await reader.readuntil(b"\r\n\r\n")
        for i in range(0, len(body), 9):
            writer.write(body[i : i + 9])
            await writer.drain()
            await asyncio.sleep(0.01)
        assert (await read(reader)).status == 200
        await asyncio.sleep(1.0)
        writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n" * 2)
        assert [(await read(reader)).status for _ in range(2)] == [200, 200]


@pytest.mark.fault("B58")
async def test_a_connection_that_the_upstream_closed_is_not_the_callers_trouble(scene):
    p = scene
    for _ in range(3):
        assert (await ask(port_of(p.gateway), body=chat(model="c"))).status == 200
        p.cloud.drop_connections()
        await asyncio.sleep(0.1)
    assert len(p.cloud.posts) == 3


@pytest.mark.fault("B58")
async def test_twenty_large_bodies_at_once_leave_no_memory_behind(pair):
    def resident() -> int:
        return int(
            Path(f"/proc/{p.gateway.process.pid}/statm").read_text().split()[1]
        ) * os.sysconf("SC_PAGE_SIZE")

    size = 5 * MB
    async with pair() as p:
        body = json.dumps(picture(size)).encode()
        await ask(port_of(p.gateway), body=body)
        before, most = resident(), 0
        asking = asyncio.gather(*(ask(port_of(p.gateway), body=body) for _ in range(20)))
        while not asking.done():
            most = max(most, resident())
            await asyncio.sleep(0.05)
        assert {got.status for got in await asking} == {200}
        assert most - before < 6 * 20 * size
        await asyncio.sleep(0.5)
        for _ in range(3):
            await ask(port_of(p.gateway), body=chat())
        assert resident() - before < 2 * 20 * size


def slow_stream(seconds: float):
    words = "one two three four five six seven eight nine ten"
    return slowly(says(words), between_s=seconds / 12)


@pytest.mark.fault("B60")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_told_to_stop_it_lets_streams_finish(pair, number):
    async with pair(server={"grace_s": 30}) as p:
        p.cloud.then(slow_stream(4.0))
        p.edge.then(slow_stream(4.0))
        port = port_of(p.gateway)
        async with (
            sent(port, body=chat(model="c", stream=True)) as (cloud, _),
            sent(port, body=chat(model="e", stream=True)) as (edge, _),
        ):
            await read_head(cloud)
            await read_head(edge)
            p.gateway.process.send_signal(number)
            async with asyncio.timeout(20):
                while (await ask(port, "/readyz", method="GET")).status != 503:
                    await asyncio.sleep(0.02)
            assert (await ask(port, "/livez", method="GET")).status == 200
            late = await ask(port, body=chat())
            assert (late.status, late.json["error"]["code"]) == (503, "shutting_down")
            assert b"[DONE]" in await cloud.read()
            assert b"[DONE]" in await edge.read()
        assert await asyncio.wait_for(p.gateway.process.wait(), 20) == 0
    with socket.create_server(("127.0.0.1", port)):
        pass


@pytest.mark.fault("B60")
async def test_after_the_grace_streams_end_with_one_error_event(pair):
    async with pair(server={"grace_s": 1}) as p:
        p.cloud.then(slow_stream(20.0))
        async with sent(port_of(p.gateway), body=chat(model="c", stream=True)) as (reader, _):
            await read_head(reader)
            p.gateway.process.send_signal(signal.SIGTERM)
            rest = await reader.read()
        assert rest.count(b'"error"') == 1
        assert b"shutting_down" in rest
        assert b"[DONE]" not in rest
        assert await asyncio.wait_for(p.gateway.process.wait(), 20) == 0


@pytest.mark.fault("B60")
async def test_told_twice_it_ends_at_once(pair):
    async with pair(server={"grace_s": 600}) as p:
        p.cloud.then(slow_stream(60.0))
        async with sent(port_of(p.gateway), body=chat(model="c", stream=True)) as (reader, _):
            await read_head(reader)
            p.gateway.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(20):
                while (await ask(port_of(p.gateway), "/readyz", method="GET")).status != 503:
                    await asyncio.sleep(0.02)
            p.gateway.process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(p.gateway.process.wait(), 20) == 0
