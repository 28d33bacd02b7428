"""E-mail addresses, plain, in other scripts, and written so that harvesters miss them.

Each is looked for at its @ or what stands for it, and what comes before is read backwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_TOP = "(?:com|cn|net|org|edu|io|me|co)"
_PLAIN = re.compile(
    r"@(?:[A-Za-z0-9][A-Za-z0-9\-]{0,62}+[.。]){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9\-(])"
)
_LOCAL = re.compile(r"[A-Za-z0-9._%+\-]{1,64}")
_UNICODE = re.compile(
    r"@(?:[^\s@<>\"',;:，。；：、（）()\[\]|/.]{1,63}\.){1,4}[^\W\d_]{2,24}",
)
_UNICODE_LOCAL = re.compile(r"[^\s@<>\"',;:，。；：、（）()\[\]|=]{1,64}")
_SPELT = re.compile(
    r"(?: (?:[\[({<]at[\])}>] ?|at |@ )|\[at[\])}>] ?|\(at[\])}>] ?|\{at[\])}>] ?|<at[\])}>] ?|#)"
    r"(?:[a-z0-9\-]{1,40}+(?: ?[\[({<]dot[\])}>] ?| dot |[.。])){1,6}"
    rf"{_TOP}(?![a-z0-9])"
)
_SPELT_LOCAL = re.compile(r"[A-Za-z0-9._%+\-]{0,40}[A-Za-z0-9]")
_SPELLINGS = (" @ ", " at ", "at]", "at)", "at}", "at>", "#")
_SPACED = re.compile(r"@[A-Za-z0-9.\- \n]{4,60}")
_SPACED_LOCAL = re.compile(r"[A-Za-z0-9._%+\- \n]{2,90}")
_CLOSE = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._%+\-]*@[A-Za-z0-9.\-]{{1,60}}?\.{_TOP}")
_SPACING = re.compile(r"[ \n]")
_SPACING_AND_DASHES = re.compile(r"[ \n\-]")
_REPOSITORY = re.compile(r"(?:git|hg|svn)@", re.IGNORECASE)
_NOBODY = re.compile(
    r"(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster)@"
    r"|(?:example|user(?:name)?|you|your-?name|name|test|foo|someone)@example\.(?:com|org|net)$",
    re.IGNORECASE,
)
"""Machines, and the placeholders of documentation (RFC 2606)."""


def detect(view: View) -> Iterator[Finding]:
    """Addresses of people; those of machines and placeholders are `LOW`."""
    if "@" in view.text:
        plain = list(_plain(view))
        yield from plain
        if not plain:
            yield from _unusual(view)
    if view.mentions(_SPELLINGS):
        yield from _spelt(view)


def _before(view: View, at: int, local: re.Pattern[str]) -> int:
    """Where what stands before `at` begins; `at` itself when nothing does."""
    backwards = local.match(view.text[max(0, at - 96) : at][::-1])
    return at if backwards is None else at - backwards.end()


def _plain(view: View) -> Iterator[Finding]:
    for match in view.matches(_PLAIN, "EMAIL"):
        start, end = _before(view, match.start(), _LOCAL), match.end()
        if start == match.start():
            continue
        address = view.text[start:end]
        if view.text[end : end + 1] in (":", "/") and _REPOSITORY.match(address):
            continue
        yield Finding("EMAIL", start, end, _level(address))


def _level(address: str) -> Level:
    return Level.LOW if _NOBODY.match(address) else Level.HIGH


def _unusual(view: View) -> Iterator[Finding]:
    """An address in another script, or one with gaps beside the word e-mail."""
    if not view.ascii:
        for match in view.matches(_UNICODE, "EMAIL"):
            start = _before(view, match.start(), _UNICODE_LOCAL)
            if start < match.start():
                yield Finding("EMAIL", start, match.end(), Level.HIGH)
    if cues.EMAIL.search(view.lower):
        yield from _with_gaps(view)


def _with_gaps(view: View) -> Iterator[Finding]:
    for match in _SPACED.finditer(view.text):
        start, end = _before(view, match.start(), _SPACED_LOCAL), match.end()
        if match.start() - start < 2 or "." not in match.group():
            continue
        view.tally.count("EMAIL")
        if not view.near(cues.EMAIL, start, end, before=12):
            continue
        written = view.text[start:end]
        if any(_CLOSE.match(gaps.sub("", written)) for gaps in (_SPACING, _SPACING_AND_DASHES)):
            yield Finding("EMAIL", start, end, Level.HIGH)


def _spelt(view: View) -> Iterator[Finding]:
    """`jane (at) acme dot com`; plain words (`look at acme.com`) only where an e-mail is meant."""
    for match in view.matches(_SPELT, "EMAIL", lower=True):
        start = _before(view, match.start(), _SPELT_LOCAL)
        words = match.group().startswith(" at ") and "dot" not in match.group()
        if start < match.start() and not (words and not view.near(cues.EMAIL, start, match.end())):
            yield Finding("EMAIL", start, match.end(), Level.MEDIUM)
