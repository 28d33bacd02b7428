"""Logs for people or for machines, without keys and without anybody's words (R33)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, TextIO

import msgspec

Form = Literal["plain", "json"]
_PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_QUIET = ("uvicorn.error", "asyncio")
"""Loggers of libraries whose chatter is of no use here below a warning."""


def configure(
    stream: TextIO,
    redact: Callable[[str], str],
    *,
    level: str = "INFO",
    form: Form = "plain",
) -> logging.Handler:
    """Sends every log record to `stream`, redacted. Returns the handler, to take it off again."""
    inner = _Json() if form == "json" else logging.Formatter(_PLAIN)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Redacting(inner, redact))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    return handler


class Redacting(logging.Formatter):
    """Another formatter's text, tracebacks included, with the secrets taken out."""

    def __init__(self, inner: logging.Formatter, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._inner = inner
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(self._inner.format(record))


class _Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()
