"""A started gateway with a scripted upstream behind it, for SDKs to talk to.

Run by an interpreter that has the gateway: `python tests/clients/scene.py`. When all is up it
prints one line of JSON, `{"url": …, "key": …, "limited": […]}`, and stays until its standard input is closed. It
exits with 1 when the gateway's log tells of a fault.

With `--local MODEL` the gateway has a real model of this device instead, named `local`. With
`--open` everything is allowed, and the upstream answers whatever it is sent.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import yaml
from scripted_model import reply

from hybridge.testing.replies import Received, Step, says
from hybridge.testing.upstream import Upstream

KEY = "key-of-the-suites"
LIMITED = [f"key-for-one-request-{n}" for n in range(8)]
"""Keys that are good for one request in a minute."""
BUSY = 24
"""How many rate-limited backends there are: one refusal closes each for the time it names."""
_PRICE = {"input_usd": 2.5, "output_usd": 10}
_WITHOUT_END = 1000
"""More failures than there are tests: no test is refused for what another one asked for."""


def settings(upstream: str, *, busy: int = BUSY) -> dict[str, Any]:
    """An edge and a cloud, both played by the upstream, and two embedding models: one is real."""
    cloud = [{"name": "gpt", "model": "large"}]
    cloud += [{"name": f"busy-{n}", "model": f"busy-{n}"} for n in range(busy)]
    shipped = {"name": "shipped", "model": "all-minilm-l6-v2"}
    vectors = {"name": "vectors", "engine": "openai", "model": "vectors", "base_url": upstream}
    edge = {"name": "edge", "engine": "openai", "model": "small", "base_url": upstream}
    return {
        "edge": {"backends": [edge]},
        "cloud": {"backends": [{"base_url": upstream, "price": _PRICE, **row} for row in cloud]},
        "embeddings": {"backends": [shipped, vectors]},
        "execution": {"breaker_failures": _WITHOUT_END, "breaker_window": _WITHOUT_END},
    }


def of_this_device(model: str) -> dict[str, Any]:
    """A real model, alone."""
    return {"edge": {"backends": [{"name": "local", "model": model}]}}


def open_to_all(upstream: str) -> dict[str, Any]:
    """Nothing is kept on the device, and nobody refuses: for requests made at random."""
    return {**settings(upstream, busy=0), "privacy": {"action": "allow"}}


def anything(received: Received) -> Iterator[Step]:
    """An answer of the right kind, whatever was asked."""
    if received.target.endswith("/embeddings"):
        return reply(received)
    return says("Hello.")(received)


async def main() -> int:
    """Exit code: 1 when the gateway's log holds a traceback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--local", metavar="MODEL")
    parser.add_argument("--open", action="store_true")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hybridge-clients-") as folder:
        log = Path(folder) / "gateway.log"
        async with Upstream(anything if told.open else reply) as upstream:
            make = open_to_all if told.open else settings
            config = of_this_device(told.local) if told.local else make(upstream.base_url)
            async with _gateway(config, log) as url:
                print(json.dumps({"url": url, "key": KEY, "limited": LIMITED}), flush=True)
                await asyncio.to_thread(sys.stdin.read)
        text = log.read_text()
    faulty = "Traceback" in text
    if faulty:
        print(text, file=sys.stderr)
    return int(faulty)


@contextlib.asynccontextmanager
async def _gateway(config: dict[str, Any], log: Path) -> AsyncIterator[str]:
    keys = {"HYBRIDGE_SUITES_KEY": KEY}
    keys |= {f"HYBRIDGE_LIMITED_KEY_{n}": key for n, key in enumerate(LIMITED)}
    rows = [{"name": name, "key_env": name, "rpm": 1} for name in keys]
    del rows[0]["rpm"]
    config |= {"server": {"port": 0, "api_keys": rows, "grace_s": 2}, "records": {"url": None}}
    file = log.with_name("hybridge.yaml")
    file.write_text(yaml.safe_dump(config))
    with log.open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hybridge", "serve", "--config", str(file)),
            cwd=log.parent,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=err,
            stderr=err,
            env={**os.environ, **keys},
        )
    try:
        yield await _listening(process, log)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(process.wait(), 40)


async def _listening(process: asyncio.subprocess.Process, log: Path) -> str:
    while process.returncode is None:
        if found := re.search(r"listening on (http://\S+)", log.read_text()):
            return found[1]
        await asyncio.sleep(0.1)
    raise SystemExit(f"the gateway did not start:\n{log.read_text()}")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
