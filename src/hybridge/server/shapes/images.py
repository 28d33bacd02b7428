"""Pictures in a request: what is checked before they travel on, byte for byte as they came."""

from __future__ import annotations

import binascii
import re
from urllib.parse import urlsplit

TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""What every vision model reads (source: OpenAI's and Anthropic's guides)."""
PATTERN = (
    r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[!-~]*)?$"
    r"|^data:image/(png|jpeg|jpg|webp|gif);base64,([A-Za-z0-9+/]{4})+$"
)
"""For those who write one; what is taken is a little more."""
_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,", re.IGNORECASE)
_ENDS = 64
"""Characters of Base64 that are decoded at each end; all of a large picture would take long."""


def picture_fault(url: str) -> str | None:
    """What is wrong with a picture's `url`, in words that go on after the field; None if nothing.

    One at an address is not fetched here.
    """
    if url[:5].lower() == "data:":
        return _data_fault(url)
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    return None if known else "must be an http(s) address or a data URI with Base64"


def _data_fault(url: str) -> str | None:
    head = _DATA.match(url)
    if head is None or head[3] is None:
        return "must be a data URI like `data:image/png;base64,…`"
    declared = (head[1] or "").lower()
    if declared.replace("image/jpg", "image/jpeg") not in TYPES:
        return f"has a type that no model reads; there are {', '.join(TYPES)}"
    content = url[head.end() :]
    try:
        for end in (content[:_ENDS], content[-_ENDS:]):
            binascii.a2b_base64(end + "=" * (-len(end) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        return "holds no valid Base64"
    return None if content else "holds no picture"
