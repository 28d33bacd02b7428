"""Reading a database of records without ever writing to it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from sqlalchemy.engine import URL

from hybridge.core.errors import ConfigError


def read_only(url: URL) -> URL:
    """Of SQLite, a URI that neither makes nor changes a file (sqlite.org/uri.html)."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or name in ("", ":memory:") or name.startswith("file:"):
        return url
    path = Path(name).absolute()
    if not path.is_file():
        raise ConfigError(f"records.url: there is no {path}: nothing has been recorded yet")
    mode = {"mode": "ro"} if _has_log(path) or _may_have_log(path) else {"immutable": "1"}
    return url.set(database=f"file:{quote(str(path))}", query={**url.query, **mode, "uri": "true"})


def _has_log(path: Path) -> bool:
    """Whether a gateway has it open, or left something that is not in the file yet."""
    return path.with_name(f"{path.name}-wal").exists()


def _may_have_log(path: Path) -> bool:
    """Whether SQLite can put its files beside it, which it wants to even for reading only."""
    return os.access(path.parent, os.W_OK)
