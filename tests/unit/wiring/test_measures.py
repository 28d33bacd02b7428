"""R58 in a whole gateway: what is measured of this device's models shows in its metrics."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner

from hybridge import wiring
from hybridge.cli.app import app
from hybridge.edge.sessions import gpu_is_here
from hybridge.routing.facts import gather
from hybridge.settings import Settings

pytestmark = pytest.mark.anyio
NEVER_ASKED = {
    "edge": {
        "backends": [
            {"name": "e", "engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
        ]
    },
    "records": {"url": None},
}


async def scored(house: wiring.House, prompt: str) -> None:
    await house.gateway.current.scorer.score(gather(wiring.request_of(prompt)))


async def test_the_encoder_shows_in_the_metrics() -> None:
    settings = Settings.model_validate(NEVER_ASKED | {"routing": {"score_timeout_ms": 20000}})
    async with wiring.open_house(settings, load=False) as house:
        await scored(house, "Why is the train late again, and who knows it?")

        def value(name: str, **labels: str) -> float | None:
            return house.metrics.registry.get_sample_value(f"hybridge_{name}", labels)

        encode = {"backend": "scorer", "phase": "encode"}
        assert value("inference_seconds_count", **encode) == 1
        assert (value("inference_tokens_total", **encode) or 0) > 10
        assert (value("model_load_seconds", backend="scorer") or 0) > 0
        assert value("queue_depth", backend="scorer") == 0
        assert value("encoder_batch_size_count") == 1


async def test_a_score_in_no_time_is_counted_as_missed() -> None:
    settings = Settings.model_validate(NEVER_ASKED | {"routing": {"score_timeout_ms": 0.001}})
    async with wiring.open_house(settings, load=False) as house:
        await scored(house, "Why is the train late again?")
        name, late = "hybridge_encoder_missed_total", {"reason": "late"}
        while not house.metrics.registry.get_sample_value(name, late):
            await asyncio.sleep(0)


def test_doctor_says_what_computes_and_why(tmp_path, monkeypatch) -> None:
    if gpu_is_here():
        pytest.skip("there is a GPU here")
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "hybridge.yaml"
    config.write_text("edge: {backends: []}\nscorer: {provider: cuda}\nserver: {port: 0}\n")
    result = CliRunner().invoke(app, ["doctor", "--config", str(config), "--json"])
    (found,) = [row for row in json.loads(result.stdout) if row["what"] == "scorer"]
    assert found["verdict"] == "warn"
    assert found["said"].startswith("on CPU")
    assert "CUDA: no NVIDIA GPU on this machine" in found["said"]
