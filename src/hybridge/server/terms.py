"""What may change while requests come in: every endpoint reads it anew for each request."""

from __future__ import annotations

from collections.abc import Mapping

from hybridge.server.auth import Keys
from hybridge.server.config import ServerConfig


class Terms:
    """The operator's terms in force."""

    def __init__(self, config: ServerConfig, keys: Mapping[str, str]) -> None:
        self.change(config, keys)

    def change(self, config: ServerConfig, keys: Mapping[str, str]) -> None:
        """From now on these hold; what is under way keeps what it was admitted under."""
        self.keys = Keys(keys)
        self.body_limit = int(config.max_body_mb * 2**20)
        """Bytes."""
        self.report_in_body = config.report_in_body
        self.keepalive_s = config.keepalive_s
        self.early_headers_s = config.early_headers_s
        self.client_timeout_s = config.client_timeout_s
