"""How else a value may stand in the same request: with other gaps, in other letters, escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from hybridge.privacy.detectors.encoded import decode
from hybridge.privacy.examine import Value
from hybridge.privacy.normalise import normalise

_GAPS = re.compile(r"[\s\-.()+]+")
_GAP = r"[\s\-.()]{0,2}"
_MANY_DIGITS = 6
_SHORTEST, _SHORTEST_ASCII = 2, 4
_CODE = re.compile(r"[A-Za-z0-9+/_=%&#;\\\-]+")
"""Letters of base64, hexadecimal and escapes."""
MOST = 256
"""Different values in one request; a text with more of them is a list of people, and stays here."""


def replaceable(value: Value) -> bool:
    """Whether it can be replaced where it stands: neither is it the code of something else (base64,
    an escape), nor so short that it stands everywhere."""
    text = value.text
    if "\\" in text and value.type != "SECRET":
        return False
    least = _SHORTEST_ASCII if text.isascii() else _SHORTEST
    return len(text.strip()) >= least and not _is_code(text)


def _is_code(text: str) -> bool:
    if not _CODE.fullmatch(text):
        return False
    try:
        return decode(text) is not None
    except ValueError:  # it only looks like one
        return False


def canonical(text: str) -> str:
    """The same for all spellings of one value."""
    return _GAPS.sub("", normalise(text).text).casefold()


def escapes(text: str) -> set[str]:
    """How the value looks in a JSON string, where that is not the same."""
    forms = {json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (False, True)}
    return forms - {text}


def pattern(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds all of them, the longest first, in all their spellings."""
    spelt = {form for text in texts for form in (_spelt(text), *map(re.escape, escapes(text)))}
    made = re.compile("|".join(sorted(spelt, key=len, reverse=True)), re.IGNORECASE)
    re.purge()  # its cache would remember the values when the request is long over
    return made


def _spelt(text: str) -> str:
    plain = normalise(text).text
    numeric = sum(letter.isdigit() for letter in plain) >= _MANY_DIGITS and "@" not in plain
    if numeric and len(_GAPS.sub("", plain)) > 1:
        joined = _GAP.join(map(re.escape, _GAPS.sub("", plain)))
        return f"(?:{re.escape(text)}|\\+?{joined})"
    return r"\s{1,3}".join(map(re.escape, text.split()))
