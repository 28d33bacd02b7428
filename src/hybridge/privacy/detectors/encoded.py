"""Data behind an encoding: base64, hexadecimal, %XX, HTML entities, \\uXXXX."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice
from urllib.parse import unquote

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.normalise import normalise
from hybridge.privacy.view import BOUNDARY, View

_BLOB = re.compile(r"[A-Z0-9][A-Za-z0-9+/]{7,}+={0,2}")
"""From its first letter that is no small one: that makes it cheap to search for."""
_SMALL = "abcdefghijklmnopqrstuvwxyz+/"
_SHORTEST, _MOST_SMALL, _SHORT_NUMBER = 12, 40, 22
_MOST = 150
"""Tokens looked into per piece of text; more are no message but a list."""
_TOKENS = (
    ("%", re.compile(r"(?:%[0-9A-Fa-f]{2}[A-Za-z0-9._~+\-]{0,40}+){2,340}+")),
    ("&#", re.compile(r"(?:&#[xX]?[0-9A-Fa-f]{2,6};){5,256}+")),
    ("\\u", re.compile(r"(?:\\u[0-9A-Fa-f]{4}[A-Za-z0-9._\-]{0,40}+){2,256}+")),
)
"""How other encoded text looks, each after something cheap that it holds."""
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
        spans: list[tuple[int, int]] = []
        texts: list[str] = []
        for span, text in _decodable(view):
            spans.append(span)
            texts.append(text)
        if not spans:
            return
        plain = normalise(BOUNDARY.join(texts))
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        for finding in detect(View.of(plain.text, view.tally)):
            if finding.level >= Level.MEDIUM and finding.type not in _WEAK:
                at, _ = plain.original(finding.start, finding.end)
                yield Finding(finding.type, *spans[bisect_right(starts, at) - 1], Level.MEDIUM)

    return look


def _decodable(view: View) -> Iterator[tuple[tuple[int, int], str]]:
    for start, end in islice(_tokens(view), _MOST):
        decoded = decode(view.text[start:end])
        if decoded is not None:
            yield (start, end), decoded


def _tokens(view: View) -> Iterator[tuple[int, int]]:
    text = view.text
    if view.opaque:
        for blob in _BLOB.finditer(text):
            before = text[max(0, blob.start() - _MOST_SMALL) : blob.start()]
            start = blob.start() - len(before) + len(before.rstrip(_SMALL))
            length = blob.end() - start
            short_number = length < _SHORT_NUMBER and text[start : blob.end()].isdigit()
            if length >= _SHORTEST and not short_number:
                yield start, blob.end()
    for mark, token in _TOKENS:
        if mark in text:
            for match in token.finditer(text):
                yield match.span()


def decode(token: str) -> str | None:
    """The text behind one token; None when there is none."""
    if len(token) > _LONGEST:
        return None
    text = _decoded(token)
    if text is None or len(text) < _FEWEST:
        return None
    if text.isprintable():
        return text
    text = text.translate(_WHITESPACE)
    return text if text.isprintable() else None


def _decoded(token: str) -> str | None:
    if token[0] == "%":
        return unquote(token)
    if token[0] == "&":
        return _characters(token)
    if token[0] == "\\":
        return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), token)
    hexadecimal = _HEXADECIMAL.match(token)
    if hexadecimal:
        short_number = token.isdigit() and len(token) < _SHORT_NUMBER
        return None if short_number else _text(bytes.fromhex(hexadecimal[1]))
    one_word = token.isalpha() and (token.islower() or token.isupper() or token.istitle())
    bare = token.rstrip("=")
    if one_word or len(bare) % 4 == 1:
        return None
    return _text(binascii.a2b_base64(bare + "=" * (-len(bare) % 4)))


def _characters(token: str) -> str | None:
    codes = token[2:-1].split(";&#")
    try:
        return "".join([chr(int(code[1:], 16) if code[0] in "xX" else int(code)) for code in codes])
    except ValueError:  # no such character, or hexadecimal without its x
        return None


def _text(data: bytes) -> str | None:
    """Most of what looks encoded is not, so this must not raise: that takes its time."""
    text = data.decode(errors="replace")
    return None if "\ufffd" in text else text
