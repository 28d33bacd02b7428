"""Files from the Hugging Face hub, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pyqwest import (
    ReadError,
    RemoteProtocolError,
    SyncClient,
    SyncHTTPTransport,
    SyncResponse,
    TooManyRedirects,
)

from hybridge.core.errors import ModelError
from hybridge.edge.fetch import Progress
from hybridge.modelstore.catalogue import HubFile, Source

READ_TIMEOUT_S = 30.0
"""How long the hub may be silent, at first or in the middle of a file."""


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
        path = f"{source.repo}/resolve/{source.revision}/{source.file}"
        self.stream(path, into, progress, size)

    def stream(self, path: str, into: BinaryIO, progress: Progress, size: int) -> None:
        """The same for a path below the endpoint."""
        url = f"{self._endpoint}/{path}"
        with self._opened(url) as response:
            _check_status(response, url)
            _check_size(response, size, url)
            done = 0
            for block in response.content:
                done += into.write(block)
                progress(done, size)

    def read(self, path: str) -> bytes:
        """A small answer as a whole. Raises `ModelError` like `fetch`."""
        url = f"{self._endpoint}/{path}"
        with self._opened(url) as response:
            _check_status(response, url)
            return b"".join(response.content)

    @contextmanager
    def _opened(self, url: str) -> Iterator[SyncResponse]:
        transport = SyncHTTPTransport(
            tls_include_system_certs=True,
            connect_timeout=self._connect_timeout_s,
            read_timeout=self._read_timeout_s,
        )
        try:
            with transport, SyncClient(transport).stream("GET", url) as response:
                yield response
        except ConnectionError as error:
            raise ModelError(f"{self._endpoint} cannot be reached: {error}") from error
        except TimeoutError as error:
            raise ModelError(f"{url} was silent for {self._read_timeout_s:g} s") from error
        except (ReadError, RemoteProtocolError, TooManyRedirects) as error:
            raise ModelError(f"{url} broke off: {error}") from error


def _check_status(response: SyncResponse, url: str) -> None:
    if response.status != 200:
        raise ModelError(f"{url} answered {response.status}")


def _check_size(response: SyncResponse, size: int, url: str) -> None:
    """Notices another file before it has been downloaded."""
    announced = response.headers.get("content-length")
    if announced is not None and int(announced) != size:
        raise ModelError(f"{url} has {announced} bytes instead of {size}")
