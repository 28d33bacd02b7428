"""How this gateway listens."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from hybridge.core.config import Section
from hybridge.privacy.config import KeyPrivacyConfig


class ApiKeyConfig(Section):
    """One row of `server.api_keys`."""

    name: str = Field(min_length=1)
    """The tenant's name in records and budgets."""
    key_env: str = Field(min_length=1)
    """Environment variable that holds the key."""
    daily_usd: Decimal | None = Field(default=None, ge=0)
    """This key's own share of money per day."""
    rpm: int | None = Field(default=None, ge=1)
    """Requests in any 60 seconds; more are refused with 429. None: as `limits.rpm`."""
    tpm: int | None = Field(default=None, ge=1)
    """Tokens in any 60 seconds, of prompts and answers. None: as `limits.tpm`."""
    max_parallel: int | None = Field(default=None, ge=1)
    """Requests under way at once. None: as `limits.max_parallel`."""
    privacy: KeyPrivacyConfig | None = None
    """What this key may send where. None: as the section `privacy` says."""


class ServerConfig(Section):
    """Section `server`."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8686, ge=0, le=65535)
    """0: any free port, printed at start."""
    api_keys: tuple[ApiKeyConfig, ...] = ()
    """Without one, only loopback addresses can be listened on."""
    admin_key_env: str | None = None
    """Environment variable that holds the key of `/admin`."""
    max_body_mb: float = Field(default=16.0, gt=0)
    """A larger request is refused with 413; in MiB."""
    keepalive_s: float | None = Field(default=15.0, gt=0)
    """After so much silence in a stream that has begun, a comment line is sent, so that no proxy
    takes it for dead. None: never."""
    early_headers_s: float | None = Field(default=None, gt=0)
    """When a stream's first event takes longer, its head is sent without it (then comment lines
    every `keepalive_s`), and an error comes as an event under status 200. None: the head waits for
    the first event."""
    client_timeout_s: float = Field(default=30.0, gt=0)
    """How long a caller may pause while it sends a request, or leave an answer unread."""
    grace_s: float = Field(default=30.0, ge=0)
    """How long running answers may take to finish at shutdown."""
    report_in_body: bool = True
    """Whether answers carry the top-level `hybridge` object; headers always do."""
    cors_origins: tuple[str, ...] = ()
    """Origins whose pages may call this gateway from a browser, e.g. `https://app.example.com`."""
