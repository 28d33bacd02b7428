"""Whatever goes wrong with a private request, it stays on this device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of
from tests.integration.known_faults.readings import becomes, total
from tests.integration.known_faults.scenes import between_these

from hybridge.testing.http import ask
from hybridge.testing.replies import Cut, Reply, cut, fails, hangs, says

pytestmark = [pytest.mark.anyio, pytest.mark.fault("B44")]

SECRET = "11010519491231002X"
PRIVATE = f"身份证号{SECRET}请保密，请先分析再证明它是有效的。"
CONFIG = {
    "execution": {"deadline_s": 2.0, "breaker_failures": 1000, "breaker_window": 1000},
    "routing": {"confidence_min": 0.95, "confidence_unknown": "escalate", "hold_tokens": 2},
}
SURFACES: Mapping[str, Any] = {
    "chat": ("/v1/chat/completions", chat),
    "messages": (
        "/v1/messages",
        lambda text: {"model": "auto", "max_tokens": 64, **_messages(text)},
    ),
    "responses": ("/v1/responses", lambda text: {"model": "auto", "input": text}),
}
EVERYWHERE = pytest.mark.parametrize("surface", SURFACES)
UNABLE: Mapping[str, Reply] = {
    "down": fails(500),
    "busy": fails(503),
    "refusing": fails(401),
    "reset": cut(says(), after=-2, end=Cut.RESET),
    "slow": hangs(),
    "empty": says(""),
    "too long": fails(400, "the prompt is too long", code="context_length_exceeded"),
}


def _messages(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def asked(pair: Any, surface: str = "chat", text: str = PRIVATE, **more: Any) -> Any:
    path, body = SURFACES[surface]
    headers = more.pop("headers", None)
    return await ask(port_of(pair.gateway), path, body(text) | more, headers=headers)


@BOTH_WAYS
@EVERYWHERE
@pytest.mark.parametrize("how", UNABLE)
async def test_a_local_model_that_cannot_is_no_reason_to_ask_a_cloud(scene, how, surface, stream):
    scene.edge.then(UNABLE[how])
    try:
        got = await asked(scene, surface, stream=stream)
    finally:
        scene.edge.then(says(logprob=-0.02))
    assert got.status == (422 if how == "too long" else 503), got.body
    code = "privacy_no_local_path" if how == "too long" else "privacy_local_unavailable"
    assert f'code":"{code}"'.encode() in got.body
    assert SECRET.encode() not in got.body
    assert scene.cloud.posts == []


@BOTH_WAYS
@EVERYWHERE
async def test_doubt_is_no_reason_either(scene, surface, stream):
    scene.edge.then(says("Perhaps, perhaps not, who knows.", logprob=-5.0))
    got = await asked(scene, surface, stream=stream)
    assert (got.status, got.headers["x-hybridge-route"]) == (200, "edge_private")
    assert scene.cloud.posts == []


@EVERYWHERE
async def test_a_stream_that_breaks_is_not_continued_elsewhere(scene, surface):
    scene.edge.then(cut(says("one two three four five six"), after=3, end=Cut.RESET))
    got = await asked(scene, surface, stream=True)
    scene.edge.then(says(logprob=-0.02))
    assert got.status == 200
    assert b'"error"' in got.body
    assert scene.cloud.posts == []


@BOTH_WAYS
async def test_the_edges_context_is_no_reason_either(tmp_path, stream):
    async with between_these(tmp_path, edge={"context_tokens": 256}) as p:
        got = await asked(p, text=PRIVATE + "很长的文字" * 200, stream=stream)
        assert (got.status, got.json["error"]["code"]) == (422, "privacy_no_local_path")
        assert p.edge.posts == p.cloud.posts == []


@BOTH_WAYS
@pytest.mark.parametrize(
    "config",
    [
        {"routing": {"edge_max": 0, "cloud_min": 11, "hedge_after_ms": 1}},
        {"learning": {"shadow_rate": 1.0}},
        {"cache": {"semantic": {}}},
    ],
    ids=["band", "random", "semantic cache"],
)
async def test_neither_shadow_nor_cache_takes_it_out(pair, config, stream):
    async with pair(**config) as p:
        for _ in range(3):
            got = await asked(p, stream=stream)
            assert (got.status, got.headers["x-hybridge-route"]) == (200, "edge_private")
        assert len(p.edge.posts) == 3, "it is never kept"
        assert p.cloud.posts == []


@BOTH_WAYS
async def test_a_session_in_the_cloud_does_not_draw_it_there(scene, stream):
    session = {"x-session-id": f"s-{stream}"}
    for _ in range(3):
        got = await asked(scene, text="Prove that 2 is prime.", headers=session)
        assert got.headers["x-hybridge-route"] == "cloud_classified"
    scene.cloud.requests.clear()
    got = await asked(scene, headers=session, stream=stream)
    assert (got.status, got.headers["x-hybridge-route"]) == (200, "edge_private")
    assert scene.cloud.posts == []


@BOTH_WAYS
async def test_nor_does_a_task_of_several_parts(scene, stream):
    text = f"首先翻译下面的句子，然后证明1+1=2，最后写一段Python代码：{PRIVATE}"
    got = await asked(scene, text=text, stream=stream)
    assert (got.status, got.headers["x-hybridge-route"]) == (200, "edge_private")
    assert (len(scene.edge.posts), scene.cloud.posts) == (1, [])


async def test_it_is_counted(scene):
    """By the route where it was served, by the outcome where it was not."""
    before = await total(scene.gateway, "hybridge_requests_total", route="edge_private")
    await asked(scene)
    await becomes(scene.gateway, before + 1, "hybridge_requests_total", route="edge_private")
    failed = await total(scene.gateway, "hybridge_requests_total", outcome="failed")
    scene.edge.then(fails(500))
    await asked(scene)
    scene.edge.then(says(logprob=-0.02))
    await becomes(scene.gateway, failed + 1, "hybridge_requests_total", outcome="failed")


async def test_it_leaves_no_trace_in_logs_metrics_or_records(tmp_path):
    records = f"sqlite+aiosqlite:///{tmp_path / 'records.db'}"
    config = {
        "records": {"url": records},
        "cache": {"semantic": {}},
        "learning": {"shadow_rate": 1},
    }
    async with between_these(tmp_path, env={"HYBRIDGE_LOG": "debug"}, **config) as p:
        for reply in (says(f"It is {SECRET}."), fails(500, f"bad {SECRET}"), says("")):
            p.edge.then(reply)
            for stream in (False, True):
                await asked(p, stream=stream)
        seen = (await p.gateway.get("/metrics")).raw + (await p.gateway.get("/healthz")).raw
    for file in tmp_path.iterdir():
        seen += file.read_bytes()
    assert b"edge_private" in seen
    assert SECRET.encode() not in seen
    assert "身份证号".encode() not in seen
    assert json.dumps("身份证号")[1:-1].encode() not in seen
