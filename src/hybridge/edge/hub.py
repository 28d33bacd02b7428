"""Files from the Hugging Face hub, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import BinaryIO

from hybridge.core.errors import ModelError
from hybridge.edge.fetch import Progress
from hybridge.modelstore.catalogue import HubFile, Source

READ_TIMEOUT_S = 30.0
BLOCK = 1 << 20


class Hub:
    """Reads `HubFile` sources from `endpoint`, e.g. https://huggingface.co."""

    name = "hub"

    def __init__(self, endpoint: str, connect_timeout_s: float) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._connect_timeout_s = connect_timeout_s

    def reads(self, source: Source) -> bool:
        return isinstance(source, HubFile)

    def fetch(self, source: Source, into: BinaryIO, progress: Progress, size: int) -> None:
        """Streams the file. Raises `ModelError`: unreachable, refused, or broken off."""
        from pyreqwest.client import SyncClientBuilder
        from pyreqwest.exceptions import PyreqwestError

        assert isinstance(source, HubFile)  # noqa: S101 - `reads` said so
        url = f"{self._endpoint}/{source.repo}/resolve/main/{source.file}"
        builder = (
            SyncClientBuilder()
            .connect_timeout(timedelta(seconds=self._connect_timeout_s))
            .read_timeout(timedelta(seconds=READ_TIMEOUT_S))
        )
        try:
            with builder.build() as client, client.get(url).build_streamed() as response:
                if response.status != 200:
                    raise ModelError(f"{url} answered {response.status}")
                done = 0
                while (block := response.body_reader.read(BLOCK)) is not None:
                    into.write(block)
                    done += len(block)
                    progress(done, size)
        except PyreqwestError as error:
            raise ModelError(f"{url}: {error}") from error
