"""A gateway in a process of its own, and the commands that an operator gives beside it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.models.load import until
from hybridge.modelstore.folder import FolderPlace
from hybridge.modelstore.versions import Versions


class Gateway:
    """One that serves versions of the model `m` out of a folder."""

    url = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = Versions(FolderPlace(folder / "models" / "store"))

    @property
    def active(self) -> str:
        """The version in force, as the store says."""
        return self._store.pointer("m").active or ""

    def stepped_s(self) -> float:
        """When the last step was taken, on the clock's monotonic scale."""
        last = self._store.pointer("m").last
        ago_s = 0.0 if last is None else (datetime.now(UTC) - last.at).total_seconds()
        return time.monotonic() - ago_s

    async def command(self, *words: str, fails: str | None = None) -> str:
        """What `hybridge models …` prints. With `fails` it must exit with 1 and say so."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hybridge", "models", *words, "--config", "hybridge.yaml"),
            cwd=self._folder,
            stdout=PIPE,
            stderr=PIPE,
        )
        out, err = await process.communicate()
        said, wanted = err.decode(), 0 if fails is None else 1
        if process.returncode != wanted or (fails or "") not in said:
            raise RuntimeError(f"hybridge models {' '.join(words)}: {process.returncode} {said}")
        return out.decode()

    async def push(self, weights: Path) -> str:
        """The new version."""
        made = json.loads(await self.command("push", "m", str(weights), "--json"))
        return str(made["version"])

    def corrupt(self, version: str) -> None:
        """Turns one bit of its file."""
        path = self._folder / "models/store/m/versions" / version / "files/model.gguf"
        raw = bytearray(path.read_bytes())
        raw[-40] ^= 1
        path.write_bytes(raw)

    async def refuses(self, version: str, before: str, why: str) -> None:
        """Makes a version active as a tool that checks nothing would; the gateway must take it
        back by itself, for this reason."""
        await asyncio.to_thread(self._store.activate, "m", version)
        await until(lambda: self.active == before)
        last = self._store.history("m")[-1]
        if last.by != "gateway" or why not in last.reason:
            raise RuntimeError(f"rolled back by the {last.by}: {last.reason}")

    def remain(self, count: int) -> None:
        """So many versions are there, and no file of any other."""
        there = {one.version for one in self._store.all("m")}
        on_disk = {entry.key.split("/")[2] for entry in self._store.place.entries("m/versions/")}
        if len(there) != count or on_disk != there:
            raise RuntimeError(f"{sorted(there)} remain, and files of {sorted(on_disk)}")


@asynccontextmanager
async def serving(folder: Path, weights: Path, context: int) -> AsyncIterator[Gateway]:
    """`hybridge serve`, once it is ready, with `weights` as its first version."""
    (folder / "hybridge.yaml").write_text(
        json.dumps(
            {
                "server": {"port": 0},
                "records": {"url": None},
                "models": {"dir": "models"},
                "edge": {
                    "backends": [
                        {"name": "local", "model": "m", "context_tokens": context, "queue": 500}
                    ]
                },
            }
        )
    )
    gateway, log = Gateway(folder), folder / "gateway.log"
    await gateway.command("activate", "m", await gateway.push(weights))
    with log.open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hybridge", "serve", "--config", "hybridge.yaml"),
            cwd=folder,
            stdout=DEVNULL,
            stderr=err,
            env=os.environ,
        )
    try:
        await until(lambda: "Hybridge is ready" in log.read_text())
        (gateway.url,) = re.findall(r"listening on (http://\S+)", log.read_text())
        yield gateway
    except BaseException:
        print(log.read_text(), file=sys.stderr)
        raise
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()
