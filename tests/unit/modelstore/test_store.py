"""A model file is whole or not there at all."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from hybridge.core.errors import ModelError
from hybridge.modelstore.catalogue import CatalogueModel
from hybridge.modelstore.store import ModelStore

WEIGHTS = b"GGUF tiny weights " * 1000
TINY = CatalogueModel(
    name="tiny",
    title="Tiny",
    languages=("en",),
    licence="Apache-2.0",
    size_bytes=len(WEIGHTS),
    context_tokens=128,
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    sources=(),
)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", {"tiny": TINY})


def write_weights(file: BinaryIO) -> None:
    file.write(WEIGHTS)


def install(store: ModelStore) -> Path:
    with store.installing("tiny"):
        return store.install("tiny", write_weights)


def visible(store: ModelStore) -> list[str]:
    return [path.name for path in store.folder.iterdir() if not path.name.endswith(".lock")]


def test_what_was_installed_is_found(store: ModelStore) -> None:
    assert store.path("tiny") is None
    path = install(store)
    assert store.path("tiny") == path == store.place("tiny")
    assert path.read_bytes() == WEIGHTS
    store.verify("tiny")


def test_a_model_is_not_visible_before_it_is_whole(store: ModelStore) -> None:
    def watched(file: BinaryIO) -> None:
        file.write(WEIGHTS[:-1])
        file.flush()
        assert store.path("tiny") is None
        assert not store.place("tiny").exists()
        file.write(WEIGHTS[-1:])

    with store.installing("tiny"):
        store.install("tiny", watched)
    assert store.path("tiny") is not None


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (WEIGHTS[:-1], "bytes came instead of"),
        (WEIGHTS[:-1] + b"?", "SHA-256"),
        (b"", "0 bytes came"),
    ],
)
def test_anything_else_is_refused_and_leaves_nothing(
    store: ModelStore, content: bytes, complaint: str
) -> None:
    with store.installing("tiny"), pytest.raises(ModelError, match=complaint):
        store.install("tiny", lambda file: file.write(content) and None)
    assert visible(store) == []


def test_a_writer_that_fails_leaves_nothing(store: ModelStore) -> None:
    def broken(file: BinaryIO) -> None:
        file.write(WEIGHTS[:100])
        raise ModelError("the line went dead")

    with store.installing("tiny"), pytest.raises(ModelError, match="went dead"):
        store.install("tiny", broken)
    assert visible(store) == []


def test_a_failed_install_keeps_the_model_that_was_there(store: ModelStore) -> None:
    install(store)
    with store.installing("tiny"), pytest.raises(ModelError):
        store.install("tiny", lambda file: file.write(b"worse") and None)
    assert store.place("tiny").read_bytes() == WEIGHTS


def test_a_file_of_the_wrong_size_counts_as_not_here(store: ModelStore) -> None:
    install(store)
    store.place("tiny").write_bytes(WEIGHTS[:-5])
    assert store.path("tiny") is None


def test_verify_notices_what_a_size_does_not_tell(store: ModelStore) -> None:
    path = install(store)
    path.write_bytes(b"?" + WEIGHTS[1:])
    with pytest.raises(ModelError, match="fetch it anew"):
        store.verify("tiny")


def test_verify_of_a_missing_model_says_where_it_looked(store: ModelStore) -> None:
    with pytest.raises(ModelError, match=str(store.folder)):
        store.verify("tiny")


def test_an_unknown_name_lists_the_known_ones(store: ModelStore) -> None:
    with pytest.raises(ModelError, match=r"'gpt-9'.*tiny"):
        store.path("gpt-9")


def test_only_one_at_a_time_installs_a_model(store: ModelStore) -> None:
    inside, order = threading.Event(), []

    def second() -> None:
        inside.wait()
        with store.installing("tiny"):
            order.append(f"second found {store.path('tiny') is not None}")

    thread = threading.Thread(target=second)
    thread.start()
    with store.installing("tiny"):
        inside.set()
        store.install("tiny", write_weights)
        order.append("first")
    thread.join()
    assert order == ["first", "second found True"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = ModelStore(tmp_path / "file" / "models")
    with (
        pytest.raises(ModelError, match="file/models cannot be written to"),
        store.installing("smollm2-135m"),
    ):
        pass


def test_a_disk_without_room_is_noticed_before_anything_is_fetched(tmp_path: Path) -> None:
    huge = replace(TINY, size_bytes=10**18)
    store = ModelStore(tmp_path, {"tiny": TINY, "huge": huge})
    store.check_space("tiny")
    with pytest.raises(ModelError, match=f"huge needs .* MB in {tmp_path}"):
        store.check_space("huge")
