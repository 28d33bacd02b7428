"""The account of an answer: the `hybridge` object and the `x-hybridge-…` headers (R10)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from hybridge.budget.allowance import Rate
from hybridge.core.report import Report
from hybridge.server.exchange import Header

_encoder = msgspec.json.Encoder(decimal_format="number")


def as_json(report: Report) -> bytes:
    """The `hybridge` object: the report's own fields, money as numbers."""
    return _encoder.encode(report)


def as_headers(report: Report) -> list[Header]:
    """The same in short.

    Unknown values have no header, and `x-hybridge-degraded` only ever says `true`.
    """
    headers = [
        (b"x-hybridge-route", report.route.value.encode()),
        (b"x-hybridge-model", _visible(report.model)),
        (b"x-hybridge-overhead-ms", b"%.3f" % report.overhead_ms),
    ]
    if report.score is not None:
        headers.append((b"x-hybridge-score", b"%g" % report.score))
    if report.confidence is not None:
        headers.append((b"x-hybridge-confidence", b"%g" % report.confidence))
    if report.degraded:
        headers.append((b"x-hybridge-degraded", b"true"))
    return headers


def rate_headers(rates: Mapping[str, Rate]) -> list[Header]:
    """What is left of the key's allowance, as OpenAI tells it."""
    return [
        header
        for kind, rate in rates.items()
        for header in (
            (b"x-ratelimit-limit-" + kind.encode(), b"%d" % rate.limit),
            (b"x-ratelimit-remaining-" + kind.encode(), b"%d" % rate.remaining),
            (b"x-ratelimit-reset-" + kind.encode(), b"%.3fs" % rate.reset_s),
        )
    ]


def _visible(model: str) -> bytes:
    """Percent-encoded where a header could not hold it, such as a file's Chinese name."""
    if model.isascii() and model.isprintable():
        return model.encode()
    return quote(model, safe="/:@+,=~ ").encode()
