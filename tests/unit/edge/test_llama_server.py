"""The loaded model: nobody else gets in, and it leaves nothing behind."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hybridge.core.errors import ModelError
from hybridge.edge.grammar import for_schema, for_tools
from hybridge.edge.llama_server import LlamaServer, Load

pytestmark = pytest.mark.model

CHAT = {
    "messages": [{"role": "user", "content": "Say hi."}],
    "temperature": 0,
    "max_tokens": 3,
    "stream": True,
}


def load(gguf: Path) -> LlamaServer:
    return LlamaServer.load(Load(gguf, "tiny", context_tokens=256, slots=1, threads=1))


@pytest.fixture(scope="module")
def server(smollm2: Path) -> Iterator[LlamaServer]:
    server = load(smollm2)
    yield server
    server.close()


@pytest.fixture
def server_on_loopback(smollm2: Path, tmp_path: Path) -> Iterator[LlamaServer]:
    """One that could not have a socket file, as where the temporary folder's name is too long."""
    usual, tempfile.tempdir = tempfile.tempdir, str(tmp_path / ("long-" * 30))
    Path(tempfile.tempdir).mkdir()
    try:
        server = load(smollm2)
    finally:
        tempfile.tempdir = usual
    yield server
    server.close()


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


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot hold it to one core")
def test_it_can_be_freed_as_soon_as_it_is_loaded(smollm2: Path) -> None:
    """On one core the library's own threads have hardly begun by then, and it must end all the same.

    In a process of its own: what hangs in there holds the whole interpreter.
    """
    program = (
        "import os, sys, pathlib\n"
        "from hybridge.edge.llama_server import LlamaServer, Load\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "for _ in range(4):\n"
        "    load = Load(pathlib.Path(sys.argv[1]), 'tiny', 256, slots=1, threads=1)\n"
        "    LlamaServer.load(load).close()\n"
    )
    subprocess.run([sys.executable, "-c", program, str(smollm2)], check=True, timeout=100)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks into /proc")
def test_it_opens_no_port(smollm2: Path) -> None:
    before = listening_ports()
    server = load(smollm2)
    try:
        assert listening_ports() == before
    finally:
        server.close()


def test_its_door_is_gone_once_it_is_loaded(server: LlamaServer) -> None:
    scheme, path = server.address.split("://")
    assert scheme == "unix"
    assert not Path(path).parent.exists()
    with socket.socket(socket.AF_UNIX) as knock, pytest.raises(FileNotFoundError):
        knock.connect(path)


def test_where_it_must_listen_nobody_is_served_without_the_key(
    server_on_loopback: LlamaServer,
) -> None:
    scheme, at = server_on_loopback.address.split("://")
    assert scheme == "http"
    assert at.startswith("127.0.0.1:")
    asked = [("POST", path) for path in ("/v1/chat/completions", "/completion", "/tokenize")]
    asked += [("GET", path) for path in ("/v1/models", "/props", "/slots", "/metrics")]
    for method, path in asked:
        for key in ("", "Bearer ", "Bearer guessed"):
            knock = http.client.HTTPConnection(at, timeout=10)
            knock.request(method, path, json.dumps(CHAT), {"authorization": key})
            assert knock.getresponse().status == 401, (method, path, key)
            knock.close()


def test_it_can_be_loaded_again_and_again_and_leaves_nothing(smollm2: Path) -> None:
    threads = Path("/proc/self/task")
    before = len(list(threads.iterdir())) if threads.exists() else 0
    for _ in range(3):
        server = load(smollm2)
        server.chat(json.dumps(CHAT), lambda _piece: False)
        server.close()
    if threads.exists():
        assert len(list(threads.iterdir())) <= before


@pytest.mark.parametrize("kept", [1000, 20_000_000])
def test_a_broken_file_is_named(smollm2: Path, tmp_path: Path, kept: int) -> None:
    broken = tmp_path / "broken.gguf"
    with smollm2.open("rb") as whole:
        broken.write_bytes(whole.read(kept))
    with pytest.raises(ModelError, match=r"broken\.gguf cannot be loaded"):
        load(broken)


@pytest.mark.parametrize(
    ("schema", "readable"),
    [
        ({"type": "string"}, True),
        ({"type": "object", "properties": {"名字": {"type": "string"}}}, True),
        ({"type": "odd"}, False),
        ({"type": "string", "minLength": 5, "maxLength": 2}, False),
        ({"type": "string", "pattern": "^(?=a)b"}, False),
    ],
)
def test_it_knows_which_grammars_it_can_hold_an_answer_to(
    server: LlamaServer, schema: dict[str, object], readable: bool
) -> None:
    for _ in range(2):
        assert server.reads(for_schema(schema)) is readable


@pytest.mark.parametrize("must_call", [False, True])
@pytest.mark.parametrize("schema", [None, {"type": "object"}])
def test_it_can_hold_an_answer_to_calls(
    server: LlamaServer, must_call: bool, schema: dict[str, object] | None
) -> None:
    functions = [{"name": "get.a-b_1"}, {"name": "f", "parameters": {"properties": {"a": {}}}}]
    for several in (False, True):
        for loose in (False, True):
            grammar = for_tools(
                functions,
                must_call=must_call,
                several=several,
                schema=schema,
                loose=loose,
            )
            assert server.reads(grammar)


def test_it_tells_how_much_a_slot_holds(smollm2: Path) -> None:
    asked = Load(smollm2, "tiny", context_tokens=300, slots=2, threads=1)
    server = LlamaServer.load(asked)
    try:
        assert server.context_tokens(asked) >= 300
    finally:
        server.close()
