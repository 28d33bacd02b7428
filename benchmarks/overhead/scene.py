"""What a run is played on: cores, the upstream, and gateways in front of it."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from benchmarks.overhead import probe
from benchmarks.overhead.environments import programs
from benchmarks.overhead.gateways import HERE, Gateway
from benchmarks.overhead.process import Process, running
from benchmarks.overhead.workloads import Workload, lay, workloads

START_S = 180.0
"""How long a gateway may take to its first good answer; the slowest imports for half a minute."""


@dataclass(frozen=True, slots=True)
class Cores:
    """Who runs where, as taskset writes it."""

    load: str
    """The load generator and the upstream."""
    gateway: str
    every: str


def cores() -> Cores:
    """One core for the gateway and one for everything around it, where there are two."""
    usable = sorted(os.sched_getaffinity(0))
    return Cores(str(usable[0]), str(usable[-1]), ",".join(map(str, usable)))


@dataclass(frozen=True, slots=True)
class Started:
    """A gateway that has answered both workloads correctly."""

    gateway: Gateway
    process: Process
    port: int

    def url(self, workload: Workload) -> str:
        """Where `workload` is posted."""
        path = Template(self.gateway.path).substitute(kind=workload.name)
        return f"http://127.0.0.1:{self.port}{path}"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the gateways of one run share."""

    folder: Path
    cores: Cores
    upstream: Started
    key: str
    """What clients authenticate with."""

    @contextmanager
    def start(self, gateway: Gateway) -> Iterator[Started]:
        """Start `gateway`; entered once it answered both workloads. Raises RuntimeError if not."""
        if not gateway.command:
            yield Started(gateway, self.upstream.process, self.upstream.port)
            return
        cpus = self.cores.every if gateway.every_core else self.cores.gateway
        with _serving(gateway, self.folder, cpus, self._words(gateway), self.key) as started:
            yield started

    def _words(self, gateway: Gateway) -> dict[str, str]:
        bin_folder = programs(gateway.name.partition("-")[0], gateway.requirements)
        return {"upstream": str(self.upstream.port), "bin": str(bin_folder)}


@contextmanager
def scene(folder: Path) -> Iterator[Scene]:
    """The upstream, serving its canned answers out of `folder`."""
    lay(folder)
    folder.chmod(0o755)  # nginx's worker is another user when we are root
    where = cores()
    upstream = Gateway(
        "upstream",
        "upstream",
        command=("nginx", "-p", "$folder", "-c", "$config"),
        config="upstream.conf",
        path="/$kind/v1/chat/completions",
    )
    with _serving(upstream, folder, where.load, {}, "") as started:
        yield Scene(folder, where, started, f"sk-{secrets.token_hex(24)}")


@contextmanager
def _serving(
    gateway: Gateway, folder: Path, cpus: str, words: Mapping[str, str], key: str
) -> Iterator[Started]:
    port = _free_port()
    words = {**words, "port": str(port), "folder": str(folder), "here": str(HERE)}
    config = folder / f"{gateway.name}-{gateway.config}"
    config.write_text(_filled(HERE / "configs" / gateway.config, words), encoding="utf-8")
    words |= {"config": str(config), "python": sys.executable}
    command = [Template(part).substitute(words) for part in gateway.command]
    log = folder / f"{gateway.name}.log"
    environment = {**_environment(gateway), "GATEWAY_KEY": key, "UPSTREAM_KEY": "sk-upstream"}
    with running(command, cpus=cpus, environment=environment, folder=folder, log=log) as process:
        started = Started(gateway, process, port)
        for workload in workloads():
            _await_answer(started, workload, key)
        yield started


def _filled(template: Path, words: Mapping[str, str]) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(words)


def _environment(gateway: Gateway) -> dict[str, str]:
    """Ours, without proxies, since all traffic is loopback; for a peer also without our modules."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    modules = kept.pop("PYTHONPATH", "").split(os.pathsep)
    if not gateway.requirements:
        kept["PYTHONPATH"] = os.pathsep.join(str(Path(m).resolve()) for m in modules if m)
    return kept | dict(gateway.environment)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _await_answer(started: Started, workload: Workload, key: str) -> None:
    name, process = started.gateway.name, started.process
    give_up = time.monotonic() + START_S
    while (fault := probe.fault(started.url(workload), workload, key)) is not None:
        if process.ended():
            raise RuntimeError(f"{name} stopped while starting:\n{process.last_words()}")
        if time.monotonic() > give_up:
            raise RuntimeError(f"{name} gives no good answer: {fault}\n{process.last_words()}")
        time.sleep(0.2)
