"""Keeping keys out of what people read: logs and error messages (R33, R60)."""

from __future__ import annotations

import re
from collections.abc import Iterable

REDACTED = "[redacted]"
_SHORTEST = 6
"""A configured secret shorter than this is no secret, and hiding it would garble every text."""
_TELLTALE = re.compile(
    r"(?i)(bearer\s+|[?&](?:api[-_]?key|key|token|access_token)=|x-api-key['\"]?\s*[:=]\s*['\"]?)"
    r"[^\s'\"\\&,;}]+"
)
_KEYLIKE = re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|hf|ghp)[-_][A-Za-z0-9_*-]{8,}")
"""The shapes of common providers' keys, for those that are not ours: a caller's, say."""


class Redactor:
    """Takes known secrets, and what looks like one, out of a text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({s for s in secrets if len(s) >= _SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        """The text with each secret replaced by `[redacted]`."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        return _KEYLIKE.sub(REDACTED, _TELLTALE.sub(rf"\g<1>{REDACTED}", text))
