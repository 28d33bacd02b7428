"""Files from the Hugging Face hub, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import BinaryIO

from pyreqwest.client import SyncClientBuilder
from pyreqwest.exceptions import ConnectError, ConnectTimeoutError, PyreqwestError, ReadTimeoutError
from pyreqwest.response import SyncResponse

from hybridge.core.errors import ModelError
from hybridge.edge.fetch import Progress
from hybridge.modelstore.catalogue import HubFile, Source

READ_TIMEOUT_S = 30.0
"""How long the hub may be silent in the middle of a file."""
BLOCK = 1 << 20


class Hub:
    """Reads `HubFile` sources from `endpoint`, e.g. https://huggingface.co or a mirror of it."""

    name = "hub"

    def __init__(
        self, endpoint: str, connect_timeout_s: float, read_timeout_s: float = READ_TIMEOUT_S
    ) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._connect_timeout_s = connect_timeout_s
        self._read_timeout_s = read_timeout_s

    def reads(self, source: Source) -> bool:
        return isinstance(source, HubFile)

    def fetch(self, source: Source, into: BinaryIO, progress: Progress, size: int) -> None:
        """Streams the file. Raises `ModelError`: unreachable, refused, another file, broken off."""
        assert isinstance(source, HubFile)  # noqa: S101 - `reads` said so
        url = f"{self._endpoint}/{source.repo}/resolve/{source.revision}/{source.file}"
        with self._opened(url) as response:
            if response.status != 200:
                raise ModelError(f"{url} answered {response.status}")
            _check_size(response, size, url)
            done = 0
            while block := response.body_reader.read(BLOCK):
                into.write(block)
                done += len(block)
                progress(done, size)

    @contextmanager
    def _opened(self, url: str) -> Iterator[SyncResponse]:
        builder = (
            SyncClientBuilder()
            .connect_timeout(timedelta(seconds=self._connect_timeout_s))
            .read_timeout(timedelta(seconds=self._read_timeout_s))
        )
        try:
            with builder.build() as client, client.get(url).build_streamed() as response:
                yield response
        except (ConnectTimeoutError, ConnectError) as error:
            raise ModelError(f"{self._endpoint} cannot be reached: {error}") from error
        except ReadTimeoutError as error:
            raise ModelError(f"{url} fell silent for {self._read_timeout_s:g} s") from error
        except PyreqwestError as error:
            raise ModelError(f"{url} broke off: {error}") from error


def _check_size(response: SyncResponse, size: int, url: str) -> None:
    """Notices another file before it has been downloaded."""
    announced = response.headers.get("content-length")
    if announced is not None and int(announced) != size:
        raise ModelError(f"{url} has {announced} bytes instead of {size}")
