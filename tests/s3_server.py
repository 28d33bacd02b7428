"""An S3 server in a process of its own: moto's, which simulates S3 over HTTP and keeps it in memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.redis_server import free_port

from hybridge.storage.bucket import Bucket, BucketPlace

PATIENCE_S = 100.0
_SERVE = """
import sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
app = DomainDispatcherApplication(create_backend_app)
run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=False)
"""
"""As `moto_server` does it, but one request after the other: it looks at a condition and writes in
two steps, so that in threads two writers could both find it met. S3 itself lets one of them win."""
KEYS = {"access_key_id": "test", "secret_access_key": "test"}
_buckets = count()


class S3Server:
    """Listens on loopback only; its buckets are those that were made."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self._process = process

    def stop(self) -> None:
        """Nobody answers from now on; nothing that it kept is left."""
        self._process.kill()
        self._process.wait()

    def bucket(self, prefix: str = "", *, name: str | None = None) -> Bucket:
        """A new bucket, or one that nobody made."""
        if name is None:
            name = f"models-{next(_buckets)}"
            with urlopen(Request(f"{self.endpoint}/{name}", method="PUT"), timeout=PATIENCE_S):
                pass
        options = {"endpoint": self.endpoint, "region": "us-east-1", **KEYS}
        return Bucket(name, prefix, options, connect_timeout_s=2.0)

    def place(self, prefix: str = "") -> BucketPlace:
        return BucketPlace(self.bucket(prefix), lambda: datetime.now(UTC))


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    """Runs as long as the block."""
    port = free_port()
    with (folder / "s3.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(port)],
            stdout=log,
            stderr=log,
            env={**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"},
        )
    server = S3Server(port, process)
    try:
        until_s = time.monotonic() + PATIENCE_S
        while not _listens(server.endpoint):
            if process.poll() is not None or time.monotonic() > until_s:
                raise RuntimeError((folder / "s3.log").read_text())
            time.sleep(0.05)
        yield server
    finally:
        server.stop()


def _listens(endpoint: str) -> bool:
    try:
        with urlopen(endpoint, timeout=5):
            return True
    except URLError:
        return False
