"""Data behind an encoding: base64, hexadecimal, %XX, HTML entities, \\uXXXX."""

from __future__ import annotations

import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from urllib.parse import unquote

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.normalise import normalise
from hybridge.privacy.view import BOUNDARY, View

_BLOB = re.compile(r"[A-Za-z0-9+/]{12,}+={0,2}")
_TOKENS = (
    ("", _BLOB),
    ("%", re.compile(r"(?:%[0-9A-Fa-f]{2}[A-Za-z0-9._~+\-]{0,40}+){2,340}+")),
    ("&#", re.compile(r"(?:&#x?[0-9A-Fa-f]{2,6};){5,256}+")),
    ("\\u", re.compile(r"(?:\\u[0-9A-Fa-f]{4}[A-Za-z0-9._\-]{0,40}+){2,256}+")),
)
"""How encoded text looks, each after something cheap that it holds."""
_HEXADECIMAL = re.compile("(?:0[xX])?((?:[0-9A-Fa-f]{2}){7,4096})$")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_WHITESPACE = str.maketrans("\n\r\t", "   ")
_LONGEST = 8192
"""Characters of a token that is still looked into; a longer one is a file."""
_FEWEST = 7
"""Characters that a decoded token must have to hold anything."""
_WEAK = frozenset({"PERSON", "IP"})


def encoded(
    detect: Callable[[View], Iterable[Finding]],
) -> Callable[[View], Iterator[Finding]]:
    """The detector that decodes tokens and asks `detect` about what they say, one layer deep."""

    def look(view: View) -> Iterator[Finding]:
        spans, texts = [], []
        for span, text in _decodable(view):
            spans.append(span)
            texts.append(normalise(text.replace(BOUNDARY, " ")).text)
        if not spans:
            return
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        for finding in detect(View.of(BOUNDARY.join(texts), view.tally)):
            if finding.level >= Level.MEDIUM and finding.type not in _WEAK:
                span = spans[bisect_right(starts, finding.start) - 1]
                yield Finding(finding.type, *span, Level.MEDIUM)

    return look


def _decodable(view: View) -> Iterator[tuple[tuple[int, int], str]]:
    for mark, token in _TOKENS:
        if mark not in view.text:
            continue
        for match in token.finditer(view.text):
            decoded = decode(match.group())
            if decoded is not None:
                yield match.span(), decoded


def decode(token: str) -> str | None:
    """The text behind one token; None when there is none."""
    if len(token) > _LONGEST:
        return None
    text = _decoded(token)
    if text is None or len(text) < _FEWEST:
        return None
    text = text.translate(_WHITESPACE)
    return text if text.isprintable() else None


def _decoded(token: str) -> str | None:
    if token[0] == "%":
        return unquote(token)
    if token[0] == "&":
        return html.unescape(token)
    if token[0] == "\\":
        return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), token)
    hexadecimal = _HEXADECIMAL.match(token)
    if hexadecimal:
        short_number = token.isdigit() and len(token) < 22
        return None if short_number else _text(bytes.fromhex(hexadecimal[1]))
    one_word = token.isalpha() and (token.islower() or token.isupper() or token.istitle())
    bare = token.rstrip("=")
    if one_word or len(bare) % 4 == 1:
        return None
    return _text(binascii.a2b_base64(bare + "=" * (-len(bare) % 4)))


def _text(data: bytes) -> str | None:
    """Most of what looks encoded is not, so this must not raise: that takes its time."""
    text = data.decode(errors="replace")
    return None if "\ufffd" in text else text
