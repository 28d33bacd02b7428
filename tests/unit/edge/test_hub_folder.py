"""A whole model from the hub: which files, of which commit, and whether they are whole."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hybridge.core.errors import ModelError
from hybridge.edge.hub import Hub
from hybridge.edge.hub_folder import REPOSITORY, fetch_folder

COMMIT = "c0ffee00"
FILES = {
    "config.json": b'{"model_type": "bert"}',
    "tokenizer.json": b"{}",
    "1_Pooling/config.json": b'{"pooling_mode_cls_token": true}',
    "model.safetensors": b"weights " * 100_000,
    "pytorch_model.bin": b"the same once more",
    "modeling_own.py": b"print('never fetched')",
    "onnx/model.onnx": b"never fetched",
    "README.md": b"never fetched",
}
WANTED = {"config.json", "tokenizer.json", "1_Pooling/config.json", "model.safetensors"}


@dataclass
class Repository:
    """A hub with one model, on loopback."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    digest: str | None = None
    """What the listing says of the weights; None: the truth."""
    listing: bytes | None = None
    paths: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str) -> bytes | None:
        self.paths.append(path)
        if path == "/api/models/owner/tiny/revision/main?blobs=true":
            return self.listing or self._listing()
        return self.files.get(path.removeprefix(f"/owner/tiny/resolve/{COMMIT}/"))

    def _listing(self) -> bytes:
        weights = self.files.get("model.safetensors", b"")
        lfs = {"sha256": self.digest or hashlib.sha256(weights).hexdigest()}
        rows = [
            {"rfilename": name, "size": len(body)}
            | ({"lfs": lfs} if name == "model.safetensors" else {})
            for name, body in self.files.items()
        ]
        return json.dumps({"sha": COMMIT, "siblings": rows}).encode()


@contextmanager
def serving(repository: Repository) -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = repository.answer(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Hub(f"http://127.0.0.1:{server.server_port}", 2.0)
        finally:
            server.shutdown()
            thread.join()


def test_what_an_export_needs_comes_and_nothing_else(tmp_path: Path) -> None:
    repository, told = Repository(), []
    with serving(repository) as hub:
        commit = fetch_folder(
            hub, "owner/tiny", tmp_path, progress=lambda done, total: told.append((done, total))
        )
    assert commit == COMMIT
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == WANTED
    assert all((tmp_path / name).read_bytes() == FILES[name] for name in WANTED)
    size = sum(len(FILES[name]) for name in WANTED)
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert all(COMMIT in path for path in repository.paths[1:])


def test_pickled_weights_are_the_second_choice(tmp_path: Path) -> None:
    repository = Repository()
    del repository.files["model.safetensors"]
    with serving(repository) as hub:
        fetch_folder(hub, "owner/tiny", tmp_path)
    assert (tmp_path / "pytorch_model.bin").exists()


@pytest.mark.parametrize(
    ("repository", "said"),
    [
        (Repository(digest="0" * 64), "model.safetensors came with another SHA-256"),
        (Repository(files={"config.json": b"{}"}), "has no PyTorch weights"),
        (Repository(listing=b"<html>"), "list of owner/tiny is not understood"),
        (Repository(listing=b'{"siblings": []}'), "list of owner/tiny is not understood"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, repository: Repository, said: str) -> None:
    with serving(repository) as hub, pytest.raises(ModelError, match=said):
        fetch_folder(hub, "owner/tiny", tmp_path)


def test_a_model_that_there_is_not_is_named(tmp_path: Path) -> None:
    with serving(Repository()) as hub, pytest.raises(ModelError, match="owner/none.*answered 404"):
        fetch_folder(hub, "owner/none", tmp_path)


@pytest.mark.parametrize("name", ["../x/y", "owner/../x", "a", "a/b/c", "/a/b", "-a/b", "a/-b"])
def test_only_a_name_of_the_hub_is_one(name: str) -> None:
    assert not REPOSITORY.match(name)
