"""A gateway as its users have it: a process of its own, on a port of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pyqwest import Client

from hybridge.cli.loopback import loopback
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, read to its end."""

    status: int
    headers: dict[str, str]
    raw: bytes
    events: list[Any] = field(default_factory=list)
    """Of a stream: its data events, decoded, without `[DONE]`."""

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.raw)

    @property
    def account(self) -> dict[str, Any]:
        """The `hybridge` object, wherever it rides."""
        return self.events[-1]["hybridge"] if self.events else self.json["hybridge"]

    @property
    def text(self) -> str:
        if not self.events:
            return self.json["choices"][0]["message"]["content"]
        parts = (c["delta"].get("content") for e in self.events for c in e.get("choices", ()))
        return "".join(part or "" for part in parts)


class Running:
    """A started gateway."""

    def __init__(self, url: str, process: asyncio.subprocess.Process, http: Client) -> None:
        self.url = url
        self.process = process
        self.http = http

    async def get(self, path: str) -> Answer:
        response = await self.http.get(self.url + path)
        return Answer(response.status, dict(response.headers), response.content)

    async def chat(
        self,
        prompt: str,
        *,
        stream: bool = False,
        path: str = "/v1/chat/completions",
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> Answer:
        body = {"model": "auto", "messages": [{"role": "user", "content": prompt}]}
        body |= ({"stream": True} if stream else {}) | more
        response = await self.http.post(
            self.url + path,
            {"content-type": "application/json", **(headers or {})},
            json.dumps(body).encode(),
        )
        raw = response.content
        events = events_of(raw) if stream and response.status == 200 else []
        return Answer(response.status, dict(response.headers), raw, events)


def events_of(raw: bytes) -> list[Any]:
    data = [line[6:] for line in raw.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in data if line != "[DONE]"]


@asynccontextmanager
async def running(
    folder: Path, config: dict[str, Any] | None, *, env: dict[str, str] | None = None
) -> AsyncIterator[Running]:
    """`hybridge serve` with a configuration, in a folder of its own; it must end without a crash."""
    arguments = ["serve"]
    if config is not None:
        server = {"port": 0, **config.get("server", {})}
        file = folder / "hybridge.yaml"
        file.write_text(yaml.safe_dump({"records": {"url": None}, **config, "server": server}))
        arguments += ["--config", str(file)]
    else:
        arguments += ["--port", "0"]
    log = folder / "gateway.log"
    with log.open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hybridge",
            *arguments,
            cwd=folder,
            stderr=err,
            env={**os.environ, **(env or {})},
        )
    try:
        url = await _listening(process, log)
        yield Running(url, process, Client(loopback()))
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(process.wait(), 40)
    assert "Traceback" not in log.read_text(), log.read_text()


async def _listening(process: asyncio.subprocess.Process, log: Path) -> str:
    for _ in range(1200):
        if found := re.search(r"listening on (http://\S+)", log.read_text()):
            return found[1]
        if process.returncode is not None:
            break
        await asyncio.sleep(0.05)
    raise AssertionError(f"the gateway did not start: {log.read_text()}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A gateway between a fake edge and a fake cloud."""

    gateway: Running
    edge: Upstream
    cloud: Upstream


@asynccontextmanager
async def between(folder: Path, config: dict[str, Any]) -> AsyncIterator[Pair]:
    """A gateway with two fake upstreams, both of which answer well until told otherwise."""
    sure = says("Hello from the edge.", logprob=-0.02)
    async with Upstream(sure) as edge, Upstream(says("Hello from the cloud.")) as cloud:
        small = {"name": "e", "engine": "openai", "base_url": edge.base_url, "model": "small"}
        price = {"input_usd": 2.5, "output_usd": 10}
        large = {"name": "c", "base_url": cloud.base_url, "model": "large", "price": price}
        backends = {"edge": {"backends": [small]}, "cloud": {"backends": [large]}}
        async with running(folder, backends | config) as gateway:
            yield Pair(gateway, edge, cloud)
