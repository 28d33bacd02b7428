"""`hybridge serve` listens at once, and says when its models are there or why they are not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.integration.running import running

from hybridge.cli.fetch import fetch
from hybridge.core.errors import ModelError
from hybridge.settings import parse

pytestmark = pytest.mark.anyio

NOWHERE = {"edge": {"backends": [{"name": "local", "model": "/nowhere/weights.gguf"}]}}
PATIENCE_S = 30.0


async def said(folder: Path, words: str) -> str:
    log = folder / "gateway.log"
    async with asyncio.timeout(PATIENCE_S):
        while words not in log.read_text():
            await asyncio.sleep(0.05)
    return log.read_text()


async def test_a_gateway_without_local_models_is_ready_at_once(tmp_path):
    server = {"name": "e", "engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    async with running(tmp_path, {"edge": {"backends": [server]}}) as gateway:
        log = await said(tmp_path, "Hybridge is ready")
        assert log.index("listening on") < log.index("is ready")
        assert (await gateway.get("/readyz")).status == 200


async def test_a_model_that_cannot_be_loaded_leaves_a_gateway_that_says_so(tmp_path):
    async with running(tmp_path, NOWHERE) as gateway:
        await said(tmp_path, "Hybridge goes on without a model")
        assert (await gateway.get("/livez")).status == 200
        ready = await gateway.get("/readyz")
        assert (ready.status, "/nowhere/weights.gguf" in ready.json["reason"]) == (503, True)
        answer = await gateway.chat("Hello!", model="local")
        assert answer.status == 503
        assert int(answer.headers["retry-after"]) >= 1


async def test_the_configuration_is_told_at_healthz(tmp_path):
    async with running(tmp_path, NOWHERE) as gateway:
        config: dict[str, Any] = (await gateway.get("/healthz")).json["config"]
        assert config["path"] == str(tmp_path / "hybridge.yaml")
        assert len(config["version"]) == 12
        assert (config["last_error"], config["restart_needed"]) == (None, [])


async def test_what_is_in_no_catalogue_is_not_fetched(tmp_path):
    await fetch(parse({"models": {"dir": str(tmp_path), "sources": []}}, {}))("/some/weights.gguf")
    assert not list(tmp_path.iterdir())


async def test_a_model_that_nobody_has_cannot_be_fetched(tmp_path):
    settings = parse({"models": {"dir": str(tmp_path), "sources": []}}, {})
    with pytest.raises(ModelError, match="could not be fetched"):
        await fetch(settings)("smollm2-135m")
