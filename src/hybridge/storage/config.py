"""Where records and shared state are kept."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, field_validator

from hybridge.core.config import Section

_SCHEMES = ("redis", "rediss", "unix")
_DATABASE = re.compile(r"/?[0-9]{0,3}")
_OPTIONS = frozenset(
    {"db", "ssl_ca_certs", "ssl_certfile", "ssl_check_hostname", "ssl_cert_reqs", "ssl_keyfile"}
)
"""What may stand behind the `?`: how to trust and be trusted. Not a password, which would be shown,
nor time limits, which are the cache's own."""
KEY_FROM = 16
"""Characters that a key of the audit trail has at least."""


class RecordsConfig(Section):
    """Section `records`."""

    url: str | None = "sqlite+aiosqlite:///hybridge.db"
    """An SQLAlchemy URL of an async driver. None: keep no records."""
    audit_key_env: str | None = Field(default=None, min_length=1)
    """Environment variable that holds a secret of at least 16 characters, which seals the audit
    trail: nobody can forge one who lacks it. None: sealed without, which shows changes by those
    only who do not make all later seals anew."""
    keep_text: Literal[False] = False
    """Records hold no prompt or answer text (R33)."""


class StateConfig(Section):
    """Section `state`."""

    redis_url: str | None = None
    """`redis://[user:password@]host:port/0`, `rediss://` with TLS, or `unix:///path`. Used by
    `cache.store: redis` alone: sessions, budgets and breakers are kept in each process."""

    @field_validator("redis_url")
    @classmethod
    def _usable(cls, url: str | None) -> str | None:
        if url is not None and (wrong := wrong_with(url)) is not None:
            raise ValueError(wrong)
        return url


def wrong_with(url: str) -> str | None:
    """Why an address is none of a Redis, without repeating it: it may hold a password."""
    try:
        parts = urlsplit(url)
        named = parts.path if parts.scheme == "unix" else parts.hostname
        number = parts.port  # reading it is what checks it
    except ValueError:
        return "is no address; write redis://host:6379/0"
    if parts.scheme not in _SCHEMES or not named or number == 0:
        return "must begin with redis://, rediss:// or unix:// and name a host or a socket"
    if parts.scheme != "unix" and not _DATABASE.fullmatch(parts.path):
        return "must end with the number of a database, e.g. /0"
    if parts.netloc.count("@") > 1:
        return "has an @ in its password; write it as %40"
    unknown = sorted(set(parse_qs(parts.query, keep_blank_values=True)) - _OPTIONS)
    if unknown:
        return f"has unknown options: {', '.join(unknown)}; there are {', '.join(sorted(_OPTIONS))}"
    return None
