"""Text as libraries in other languages take it, with every character where it was."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The same with each half of a broken pair, which UTF-8 cannot hold, as `\ufffd`."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
