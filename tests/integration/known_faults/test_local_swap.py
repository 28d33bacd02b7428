"""Models that are exchanged while they answer, and models that take long to come."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.integration.known_faults.common import BOTH_WAYS, WAIT_S, chat, port_of
from tests.integration.running import Running, running

from hybridge.settings import load
from hybridge.testing.http import ask, read_head, sent
from hybridge.testing.replies import fails, hangs, says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import fetcher

pytestmark = [pytest.mark.anyio, pytest.mark.model]

STORY = "Write a very long story about a dragon, a castle and a long winter."
SHORT = {"max_tokens": 4, "temperature": 0}
HARD = "Prove that the square root of 2 is irrational."
PRIVATE = "手机13800138000找我"


@pytest.fixture(scope="module")
def weights() -> Path:
    return fetcher(load(None)).ensure("smollm2-135m")


def row(path: Path) -> dict[str, Any]:
    return {"name": "local", "model": str(path), "slots": 1, "context_tokens": 1024, "queue": 8}


async def account(gateway: Running) -> dict[str, Any]:
    return (await gateway.get("/healthz")).json["config"]


async def swapped(gateway: Running, file: Path, path: Path, comes: Callable[[Any], bool]) -> Any:
    """Makes the file name other weights, and waits for what comes of it."""
    config = yaml.safe_load(file.read_text())
    config["edge"]["backends"] = [row(path)]
    beside = file.with_suffix(".new")
    beside.write_text(yaml.safe_dump(config))
    beside.replace(file)
    async with asyncio.timeout(WAIT_S):
        while not comes(now := await account(gateway)):
            await asyncio.sleep(0.05)
    return now


async def model_of(gateway: Running) -> str:
    got = await ask(port_of(gateway), body=chat("Hi", model="local", **SHORT))
    assert got.status == 200, got.body
    return got.json["model"]


@pytest.mark.fault("B53")
async def test_a_swap_cuts_nobody_short_and_a_failed_one_changes_nothing(tmp_path, weights):
    a, b = tmp_path / "a.gguf", tmp_path / "b.gguf"
    a.symlink_to(weights)
    b.symlink_to(weights)
    truncated, wrong, huge = (tmp_path / f"{n}.gguf" for n in ("truncated", "wrong", "huge"))
    with weights.open("rb") as whole:
        truncated.write_bytes(whole.read(2**20))
    wrong.write_bytes(b"PK\x03\x04" + b"\x00" * 4096)
    shutil.copy(weights, huge)
    os.truncate(huge, 2**42)  # a hole of 4 TiB, which no machine has the memory for
    file = tmp_path / "hybridge.yaml"
    async with running(tmp_path, {"edge": {"backends": [row(a)]}}) as gateway:
        assert await model_of(gateway) == str(a)
        port, before = port_of(gateway), await account(gateway)
        body = chat(STORY, model="local", stream=True, max_tokens=200, temperature=0)
        async with sent(port, body=body) as (reader, _):
            await read_head(reader)
            await swapped(gateway, file, b, lambda now: now["version"] != before["version"])
            assert await model_of(gateway) == str(b)
            rest = await reader.readuntil(b"[DONE]")
        assert b"error" not in rest
        assert str(a).encode() in rest
        assert str(b).encode() not in rest
        good = await account(gateway)
        for bad in (truncated, wrong, tmp_path / "missing.gguf", huge):
            now = await swapped(
                gateway,
                file,
                bad,
                lambda now, bad=bad: str(bad) in ((now["last_error"] or {}).get("message") or ""),
            )
            assert now["version"] == good["version"]
            assert await model_of(gateway) == str(b)
        now = await swapped(gateway, file, a, lambda now: now["version"] != good["version"])
        assert now["last_error"] is None
        assert await model_of(gateway) == str(a)


@pytest.mark.fault("B53")
async def test_two_swaps_at_once_and_requests_between_them(tmp_path, weights):
    a, b, c = (tmp_path / f"{name}.gguf" for name in "abc")
    for path in (a, b, c):
        path.symlink_to(weights)
    file, served, over = tmp_path / "hybridge.yaml", [], asyncio.Event()
    async with running(tmp_path, {"edge": {"backends": [row(a)]}}) as gateway:
        assert await model_of(gateway) == str(a)

        async def requests() -> None:
            while not over.is_set():
                served.append(await model_of(gateway))

        asking = asyncio.create_task(requests())
        before = await account(gateway)
        try:
            await swapped(gateway, file, b, lambda _: True)
            await swapped(gateway, file, c, lambda now: now["version"] != before["version"])
            async with asyncio.timeout(WAIT_S):
                while await model_of(gateway) != str(c):
                    await asyncio.sleep(0.05)
        finally:
            over.set()
            await asking
    assert set(served) <= {str(a), str(b), str(c)}
    order = [name for n, name in enumerate(served) if not n or served[n - 1] != name]
    assert order == sorted(order), "nobody gets an old one after a new one"


@pytest.mark.fault("B53")
async def test_models_beside_each_other_say_who_they_are(tmp_path, weights):
    paths = [tmp_path / f"{name}.gguf" for name in "ab"]
    for path in paths:
        path.symlink_to(weights)
    rows = [row(path) | {"name": path.stem, "threads": 1} for path in paths]
    async with running(tmp_path, {"edge": {"backends": rows}}) as gateway:
        got = await asyncio.gather(
            *(ask(port_of(gateway), body=chat("Hi", model="ab"[n % 2], **SHORT)) for n in range(6))
        )
    assert [one.json["model"] for one in got] == [str(paths[n % 2]) for n in range(6)]


def fetching(hub: Upstream, folder: Path, **more: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """A gateway whose model has yet to be brought from a hub."""
    config = {
        "edge": {"backends": [{"name": "local", "model": "smollm2-135m", "slots": 1}]},
        "models": {"dir": str(folder / "models"), "sources": ["hub"]},
        "execution": {"deadline_s": 2.0},
        **more,
    }
    return config, {"HF_ENDPOINT": hub.root_url, "no_proxy": "*"}


@pytest.mark.fault("B54")
@BOTH_WAYS
async def test_while_weights_come_the_cloud_answers_and_nobody_waits_for_ever(tmp_path, stream):
    hub = Upstream(on_get=hangs())
    async with hub, Upstream(says("From the cloud.")) as up:
        rows = [{"name": "c", "base_url": up.base_url, "model": "m"}]
        config, env = fetching(hub, tmp_path, cloud={"backends": rows})
        async with running(tmp_path, config, env=env) as gateway:
            port = port_of(gateway)
            assert (await gateway.get("/livez")).status == 200
            health = (await gateway.get("/healthz")).json
            assert health["status"] == "degraded"
            local = next(row for row in health["backends"] if row["name"] == "local")
            assert (local["available"], local["reason"]) == (False, "loading")
            assert (await gateway.get("/v1/models")).status == 200
            for text in ("Hello", HARD):
                got = await ask(port, body=chat(text, stream=stream))
                assert got.status == 200
                assert got.headers["x-hybridge-route"].startswith("cloud")
            got = await asyncio.gather(
                *(ask(port, body=chat("Hi", model="local", stream=stream)) for _ in range(3)),
                ask(port, body=chat(PRIVATE, stream=stream)),
            )
            for one in got:
                assert one.status == 503, one.body
                assert int(one.headers["retry-after"]) >= 1
            assert b"loading" in got[0].body
            assert len(up.posts) == 2, "what is private waited here"
        assert len([received for received in hub.requests if received.method == "GET"]) == 1


@pytest.mark.fault("B54")
async def test_alone_it_is_not_ready_before_its_model_is(tmp_path):
    async with Upstream(on_get=hangs()) as hub:
        config, env = fetching(hub, tmp_path)
        async with running(tmp_path, config, env=env) as gateway:
            assert (await gateway.get("/livez")).status == 200
            ready = await gateway.get("/readyz")
            assert ready.status == 503
            assert "loading" in ready.json["reason"]


@pytest.mark.fault("B54")
@BOTH_WAYS
async def test_a_load_that_fails_for_good_says_why_at_once(tmp_path, stream):
    async with Upstream(on_get=fails(404)) as hub, Upstream(says("From the cloud.")) as up:
        rows = [{"name": "c", "base_url": up.base_url, "model": "m"}]
        config, env = fetching(hub, tmp_path, cloud={"backends": rows})
        async with running(tmp_path, config, env=env) as gateway:

            async def reason() -> str:
                rows = (await gateway.get("/healthz")).json["backends"]
                return next(row["reason"] for row in rows if row["name"] == "local")

            async with asyncio.timeout(WAIT_S):
                while await reason() == "loading":
                    await asyncio.sleep(0.05)
            assert "404" in await reason()
            port = port_of(gateway)
            assert (await ask(port, body=chat("Hello", stream=stream))).status == 200
            for body in (chat("Hi", model="local", stream=stream), chat(PRIVATE, stream=stream)):
                got = await ask(port, body=body)
                assert got.status == 503
                assert int(got.headers["retry-after"]) >= 1
            assert "404" in await reason(), "it stays as it was found"


@pytest.mark.fault("B54")
@BOTH_WAYS
async def test_a_local_server_that_is_still_loading_is_passed_over(tmp_path, stream):
    """llama-server lists its models at once, and answers 503 until they are there."""
    loading = fails(503, "Loading model", type="unavailable_error")
    async with Upstream(loading) as edge, Upstream(says("From the cloud.")) as up:
        config = {
            "edge": {
                "backends": [
                    {"name": "e", "engine": "openai", "base_url": edge.base_url, "model": "m"}
                ]
            },
            "cloud": {"backends": [{"name": "c", "base_url": up.base_url, "model": "m"}]},
        }
        async with running(tmp_path, config) as gateway:
            port = port_of(gateway)
            got = await ask(port, body=chat("Hello", stream=stream))
            assert (got.status, got.headers["x-hybridge-route"]) == (200, "cloud_fallback")
            for body in (chat("Hi", model="e", stream=stream), chat(PRIVATE, stream=stream)):
                got = await ask(port, body=body)
                assert got.status == 503
                assert int(got.headers["retry-after"]) >= 1
            assert len(up.posts) == 1
