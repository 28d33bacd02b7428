"""Traces for an OpenTelemetry collector: names, numbers and times, never what was said."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, field_validator

from hybridge.core.config import Section


def web_address(url: Any) -> Any:
    """Whether something can be posted to, for pydantic: it raises `ValueError` where not."""
    if url is None:
        return url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address such as https://host/path")
    return url


def header_pairs(text: str) -> dict[str, str]:
    """Headers as OpenTelemetry writes them in a variable: `name=value,name=value`, values
    percent-encoded where they must be. Raises `ValueError` for anything else.
    """
    pairs = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise ValueError("must read name=value, with a comma between two of them")
        pairs[name.strip().lower()] = unquote(value.strip())
    return pairs


class TelemetryConfig(Section):
    """Section `telemetry`."""

    otlp_endpoint: str | None = None
    """Address of a collector that takes OTLP over HTTP, e.g. `http://127.0.0.1:4318`; traces go to
    its `/v1/traces`. Needs the extra `otel`. None: no traces."""
    otlp_headers_env: str | None = None
    """Environment variable with headers for it, as `name=value,name=value`: a key, mostly."""
    service_name: str = Field(default="hybridge", min_length=1)
    """What traces and alerts call this gateway."""
    sample: float = Field(default=1.0, ge=0, le=1)
    """Share of requests that are traced, where the caller's own trace does not say."""

    _is_address = field_validator("otlp_endpoint")(web_address)
