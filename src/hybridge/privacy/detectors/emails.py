"""E-mail addresses, plain, in other scripts, and written so that harvesters miss them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import BOUNDARY, View

_LOCAL = r"[A-Za-z0-9._%+\-]"
_PLAIN = re.compile(
    rf"(?<!{_LOCAL}){_LOCAL}{{1,64}}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?[.。])+[A-Za-z]{2,24}(?![A-Za-z0-9\-(])"
)
_UNICODE = re.compile(
    r"[^\s@<>\"',;:，。；：、（）()\[\]|=]{1,64}"
    r"@[^\s@<>\"',;:，。；：、（）()\[\]|/]{1,63}\.[^\W\d_]{2,24}"
)
_SPELT = re.compile(
    rf"[A-Za-z0-9](?<!{_LOCAL}.){_LOCAL}{{0,40}}(?: ?[\[({{<]at[\])}}>] ?| at | @ |#)"
    r"(?:[A-Za-z0-9\-]{1,40}(?: ?[\[({<]dot[\])}>] ?| dot |[.。]))+"
    r"(?:com|cn|net|org|edu|io|me|co)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_SPACED = re.compile(r"[A-Za-z0-9._%+\-][A-Za-z0-9._%+\- \n]{2,90}@[A-Za-z0-9.\- \n]{4,60}")
_CLOSE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._%+\-]*@[A-Za-z0-9.\-]{1,60}?\.(?:com|cn|net|org|edu|io|me|co)"
)
_SPACING = re.compile(r"[ \n]")
_SPACING_AND_DASHES = re.compile(r"[ \n\-]")
_REPOSITORY = re.compile(r"(?:git|hg|svn)@", re.IGNORECASE)
_NOBODY = re.compile(
    r"(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster)@"
    r"|(?:example|user(?:name)?|you|your-?name|name|test|foo|someone)@example\.(?:com|org|net)$",
    re.IGNORECASE,
)
"""Machines, and the placeholders of documentation (RFC 2606)."""
_SPELLINGS = (" @ ", " at ", "at]", "at)", "at}", "at>", "#")


def detect(view: View) -> Iterator[Finding]:
    """Addresses of people; those of machines and placeholders are `LOW`."""
    if "@" in view.text:
        plain = list(_plain(view))
        yield from plain
        if not plain:
            yield from _unusual(view)
    if view.mentions(_SPELLINGS):
        for match in _SPELT.finditer(view.text):
            yield Finding("EMAIL", *match.span(), Level.MEDIUM)


def _plain(view: View) -> Iterator[Finding]:
    for match in _PLAIN.finditer(view.text):
        path_follows = view.text[match.end() : match.end() + 1] in (":", "/")
        if path_follows and _REPOSITORY.match(match.group()):
            continue
        yield Finding("EMAIL", *match.span(), _level(match.group()))


def _level(address: str) -> Level:
    return Level.LOW if _NOBODY.match(address) else Level.HIGH


def _unusual(view: View) -> Iterator[Finding]:
    """Around each @: an address in another script, or one with gaps beside the word e-mail."""
    at = view.text.find("@")
    while at >= 0:
        low = max(view.text.rfind(BOUNDARY, max(0, at - 100), at) + 1, at - 100, 0)
        around = view.text[low : at + 64].partition(BOUNDARY)[0]
        match = None if view.ascii else _UNICODE.search(around, max(0, at - low - 64))
        if match is None and cues.EMAIL.search(around):
            match = _with_gaps(around)
        if match is not None:
            yield Finding("EMAIL", low + match.start(), low + match.end(), Level.HIGH)
        at = view.text.find("@", at + 1)


def _with_gaps(around: str) -> re.Match[str] | None:
    for match in _SPACED.finditer(around):
        for gaps in (_SPACING, _SPACING_AND_DASHES):
            if _CLOSE.match(gaps.sub("", match.group())):
                return match
    return None
