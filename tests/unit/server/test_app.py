"""R72, B19, B57, B58: paths, bodies, browsers."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Tier
from hybridge.gateway.status import BackendStatus, Status
from hybridge.testing.gateway import ScriptedGateway
from hybridge.testing.http import read, read_head

pytestmark = pytest.mark.anyio
ORIGIN = "https://app.example.com"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/nothing", 404),
        ("GET", "/", 404),
        ("GET", "/v1/models/none", 404),
        ("GET", "/v1/chat/completions", 405),
        ("DELETE", "/v1/models", 405),
        ("OPTIONS", "/v1/chat/completions", 405),
    ],
)
async def test_what_is_not_there_is_said_in_openais_shape(opened, method, path, status):
    async with opened() as door:
        got = await door.ask(path, method=method)
    assert (got.status, got.headers["content-type"]) == (status, "application/json")
    assert set(got.json["error"]) == {"message", "type", "param", "code"}
    assert ("allow" in got.headers) is (status == 405)


async def test_broken_json(opened):
    async with opened() as door:
        got = await door.ask(body=b'{"messages": [')
    assert (got.status, got.json["error"]["code"]) == (400, "invalid_json")


async def test_models(opened):
    async with opened() as door:
        every = await door.ask("/v1/models", method="GET")
        one = await door.ask("/v1/models/lab/qwen", method="GET")
    assert [row["id"] for row in every.json["data"]] == ["auto", "gpt", "lab/qwen"]
    for row in every.json["data"]:
        assert (row["object"], row["type"], row["display_name"]) == ("model", "model", row["id"])
        assert datetime.fromisoformat(row["created_at"]).timestamp() // 1 == row["created"]
    ends = [every.json[name] for name in ("has_more", "first_id", "last_id")]
    assert ends == [False, "auto", every.json["data"][-1]["id"]]
    assert one.json["hybridge"]["tier"] == "edge"


async def test_health(opened):
    down = BackendStatus("gpt", Tier.CLOUD, "gpt-4o", False, "breaker open")
    gateway = ScriptedGateway(state=Status(False, "gpt: breaker open", (down,)))
    async with opened(gateway=gateway) as door:
        got = {p: await door.ask(p, method="GET") for p in ("/livez", "/readyz", "/healthz")}
    assert [g.status for g in got.values()] == [200, 503, 503]
    assert got["/readyz"].json["reason"] == "gpt: breaker open"
    assert got["/healthz"].json["backends"] == [
        {"name": "gpt", "tier": "cloud", "model": "gpt-4o", "available": False,
         "reason": "breaker open"}
    ]  # fmt: skip


async def test_metrics(opened):
    async with opened() as door:
        got = await door.ask("/metrics", method="GET")
    assert got.headers["content-type"].startswith("text/plain")
    assert b"hybridge_in_flight 0.0" in got.body


async def test_request_ids(opened, chat):
    """A caller's own id is echoed, and never taken for ours."""
    async with opened() as door:
        plain = await door.ask(body=chat())
        named = await door.ask(body=chat(), headers={"x-request-id": "mine-1"})
        odd = await door.ask(body=chat(), headers={"x-request-id": "a b"})
    assert plain.headers["x-request-id"] == plain.headers["x-hybridge-request-id"]
    assert named.headers["x-request-id"] == "mine-1"
    assert named.headers["x-hybridge-request-id"].startswith("req-")
    assert odd.headers["x-request-id"] == odd.headers["x-hybridge-request-id"]


async def test_a_wish_that_cannot_be_read(opened, chat):
    async with opened() as door:
        got = await door.ask(body=chat(), headers={"x-hybridge-route": "moon"})
    assert (got.status, got.json["error"]["param"]) == (400, "x-hybridge-route")


async def test_an_upstreams_secret_does_not_get_out(opened, chat):
    secret = "upstream-secret-0123456789"
    error = BackendError(
        "refused", backend="gpt", fault=Fault.CALLER, status=400, body={"message": f"key {secret}"}
    )
    async with opened(error) as door:
        got = await door.ask(body=chat())
    assert got.status == 400
    assert secret[:8] not in got.body.decode()


async def test_a_large_body_within_the_limit(opened, chat):
    async with opened(max_body_mb=16) as door:
        got = await door.ask(body=chat("x" * (5 * 2**20)))
    assert got.status == 200


async def test_a_body_beyond_the_limit_is_refused_before_it_is_read(opened):
    """B58: only the head has been sent when the answer comes."""
    async with opened(max_body_mb=0.5) as door:
        length = {"content-length": str(20 * 2**20)}
        async with door.sent(body=b"{", headers=length) as (reader, _):
            got = await read(reader)
    assert (got.status, got.json["error"]["code"]) == (413, "request_too_large")
    assert "0.5 MB" in got.json["error"]["message"]


async def test_a_chunked_body_beyond_the_limit_is_refused_on_the_way(opened):
    async with opened(max_body_mb=0.5) as door:
        headers = {"transfer-encoding": "chunked"}
        async with door.sent(headers=headers, body=b"") as (reader, writer):
            writer.write(b"100000\r\n" + b"x" * 2**20)
            got = await read(reader)
    assert got.status == 413


async def test_a_chunked_body_is_read(opened, chat):
    async with opened() as door:
        headers = {"transfer-encoding": "chunked"}
        async with door.sent(body=b"", headers=headers) as (reader, writer):
            for part in (b'{"messages": [{"role": "user",', b' "content": "Hi"}]}', b""):
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await asyncio.sleep(0.01)
            assert (await read(reader)).status == 200


async def test_expect_100_continue(opened, chat):
    async with opened(max_body_mb=0.5) as door:
        headers = {"expect": "100-continue", "content-length": "50"}
        async with door.sent(body=b"", headers=headers) as (reader, writer):
            assert await read_head(reader) == (100, {})
            writer.write(b'{"messages": [{"role": "user", "content": "Hiiii"}]}'[:50].ljust(50))
            assert (await read(reader)).status in (200, 400)
        headers["content-length"] = str(2**20)
        async with door.sent(body=b"", headers=headers) as (reader, _):
            got = await read(reader)
    assert (got.status, got.headers["connection"]) == (413, "close")


async def test_a_compressed_body_is_refused(opened):
    async with opened() as door:
        got = await door.ask(body=b"x", headers={"content-encoding": "gzip"})
    assert got.status == 415


PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,x-stainless-os",
}


async def test_a_browser_of_an_allowed_origin(opened, chat):
    """B57."""
    async with opened(keys={"a": "key-of-a"}, cors_origins=(ORIGIN,)) as door:
        origin = {"origin": ORIGIN}
        preflight = await door.ask(method="OPTIONS", headers=origin | PREFLIGHT)
        unknown = await door.ask(body=chat(), headers=origin)
        bearer = {"authorization": "Bearer key-of-a"}
        known = await door.ask(body=chat(stream=False), headers=origin | bearer)
    assert preflight.status == 200
    assert "x-stainless-os" in preflight.headers["access-control-allow-headers"]
    assert [got.status for got in (unknown, known)] == [401, 200]
    for got in (preflight, unknown, known):
        assert got.headers["access-control-allow-origin"] == ORIGIN
    assert "x-hybridge-route" in known.headers["access-control-expose-headers"]


@pytest.mark.parametrize("allowed", [(), (ORIGIN,)])
async def test_a_foreign_origin(opened, chat, allowed):
    async with opened(cors_origins=allowed) as door:
        headers = {"origin": "https://evil.example"}
        preflight = await door.ask(method="OPTIONS", headers=headers | PREFLIGHT)
        posted = await door.ask(body=chat(), headers=headers)
    for got in (preflight, posted):
        assert "access-control-allow-origin" not in got.headers
