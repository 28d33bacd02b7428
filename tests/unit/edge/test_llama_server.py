"""The loaded model: nobody else gets in, and it leaves nothing behind."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hybridge.core.errors import ModelError
from hybridge.edge.llama_server import LlamaServer, Load

pytestmark = pytest.mark.model

CHAT = {"messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 3, "stream": True}


@pytest.fixture(scope="module")
def server(smollm2: Path) -> Iterator[LlamaServer]:
    server = LlamaServer.load(Load(smollm2, "tiny", context_tokens=256, slots=2, threads=1))
    yield server
    server.close()


def door(server: LlamaServer) -> Path:
    scheme, path = server.address.split("://")
    assert scheme == "unix"
    return Path(path)


class Knock(http.client.HTTPConnection):
    """HTTP through a socket file."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def listening_ports() -> set[int]:
    """TCP ports on which this very process listens (Linux: /proc)."""
    sockets = {str(fd.readlink()) for fd in Path("/proc/self/fd").iterdir() if fd.exists()}
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and f"socket:[{columns[9]}]" in sockets:
                ports.add(int(columns[1].rpartition(":")[2], 16))
    return ports


def test_it_says_what_it_generates_and_stops_when_told(server: LlamaServer) -> None:
    said: list[str] = []
    server.chat(json.dumps(CHAT), lambda piece: said.append(piece) or False)
    assert all(json.loads(piece)["model"] == "tiny" for piece in said)
    heard: list[str] = []
    endless = CHAT | {"max_tokens": 200}
    server.chat(json.dumps(endless), lambda piece: heard.append(piece) or len(heard) == 2)
    assert len(heard) == 2


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks into /proc")
def test_it_opens_no_port(smollm2: Path) -> None:
    before = listening_ports()
    server = LlamaServer.load(Load(smollm2, "tiny", context_tokens=256, slots=1, threads=1))
    try:
        assert listening_ports() == before
    finally:
        server.close()


def test_only_this_user_reaches_its_door(server: LlamaServer) -> None:
    folder = door(server).parent.stat()
    assert folder.st_uid == os.getuid()
    assert stat.S_IMODE(folder.st_mode) == 0o700


@pytest.mark.parametrize("key", [None, "", "guessed"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/chat/completions"),
        ("POST", "/completion"),
        ("POST", "/tokenize"),
        ("GET", "/v1/models"),
        ("GET", "/props"),
        ("GET", "/slots"),
        ("GET", "/metrics"),
    ],
)
def test_and_without_the_key_nobody_is_served(
    server: LlamaServer, method: str, path: str, key: str | None
) -> None:
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    knock = Knock(door(server))
    knock.request(method, path, json.dumps(CHAT) if method == "POST" else None, headers)
    assert knock.getresponse().status == 401
    knock.close()


def test_it_can_be_loaded_again_and_again_and_leaves_nothing(smollm2: Path) -> None:
    for _ in range(3):
        server = LlamaServer.load(Load(smollm2, "tiny", context_tokens=256, slots=1, threads=1))
        server.chat(json.dumps(CHAT), lambda _piece: False)
        folder = door(server).parent
        server.close()
        assert not folder.exists()
    threads = Path("/proc/self/task")
    if threads.exists():
        names = [(thread / "comm").read_text() for thread in threads.iterdir()]
        assert not [name for name in names if "llama" in name]


@pytest.mark.parametrize("kept", [1000, 20_000_000])
def test_a_broken_file_is_named(smollm2: Path, tmp_path: Path, kept: int) -> None:
    broken = tmp_path / "broken.gguf"
    with smollm2.open("rb") as whole:
        broken.write_bytes(whole.read(kept))
    with pytest.raises(ModelError, match=r"broken\.gguf cannot be loaded"):
        LlamaServer.load(Load(broken, "tiny", context_tokens=256, slots=1, threads=1))
