"""How a placeholder is written, and how one is read again that a model has copied carelessly.

`{{EMAIL_1_x7k2}}`: a type, a number that counts through the whole request, and a suffix that is
drawn for it. Number and suffix say which one it is; the type is for the model. Also read are
`EMAIL_1_x7k2`, `[email-1-X7K2]`, `\\[EMAIL\\_1\\_x7k2\\]`, `【邮箱_1_x7k2】` and their like.
Of the forms that were measured this one came back most often (`benchmarks/pseudonyms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

from msgspec import Struct

from hybridge.privacy.finding import TYPES

LOOK_BACK = 6
"""Characters before a placeholder that its pattern looks at."""
LONGEST = 64
"""Characters; none is longer, however it is written."""
_TRIES = 1000
_CONSONANTS, _DIGITS = "bcdfghjkmnpqrtvwxz", "23456789"


class _Atom(Struct, frozen=True):
    """So many of one kind of character."""

    kind: str
    least: int = 1
    most: int = 1


_GAP = _Atom(r"[\\_\-\s＿－]", 0, 3)
_NUMBER, _LETTER, _DIGIT = _Atom("[0-9]", 1, 4), _Atom("[a-z]"), _Atom("[0-9]")
_SUFFIX = (_LETTER, _DIGIT, _LETTER, _DIGIT)
_LABEL = _Atom(r"(?:[^\W\d]|[\\\-\s])", 0, 24)
"""The type between brackets, where it may be translated or missing, with the gap after it."""
_OPEN, _CLOSE = _Atom(r"[\[［【]"), _Atom(r"[\]］】]")
_OPEN_BRACE, _CLOSE_BRACE = _Atom(r"[{｛]"), _Atom(r"[}｝]")
_SPACE, _ESCAPE = _Atom(" ", 0, 1), _Atom(r"\\", 1, 2)

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
"""No letter or digit before it, unless that belongs to an escape of JSON."""
_STOP = r"(?![A-Za-z0-9])"
_NO_LINK = r"(?!\()"
"""Brackets that a parenthesis follows belong to a link of Markdown."""


def _bare(kind: str) -> list[_Atom]:
    name = [_GAP if letter == "_" else _Atom(letter) for letter in kind]
    return [*name, _GAP, _NUMBER, _GAP_BEFORE_SUFFIX, *_SUFFIX]


_GAP_BEFORE_SUFFIX = _Atom(_GAP.kind, 1, 3)
_INNER = [_LABEL, _NUMBER, _GAP_BEFORE_SUFFIX, *_SUFFIX, _SPACE]
_SINGLE = [_OPEN_BRACE, *_INNER, _CLOSE_BRACE]
_DOUBLE = [_OPEN_BRACE, *_SINGLE, _CLOSE_BRACE]
_BRACKETED = [_OPEN, *_INNER, _CLOSE]
_ESCAPED = [_ESCAPE, *_BRACKETED[:-1], _ESCAPE, _CLOSE]
_BARE = [_bare(kind) for kind in sorted(TYPES, key=len, reverse=True)]


def _whole(atoms: Sequence[_Atom]) -> str:
    """A pattern of all of it; its last two groups are the number and the suffix."""
    parts = [f"{atom.kind}{{{atom.least},{atom.most}}}" for atom in atoms]
    at = next(i for i, atom in enumerate(atoms) if atom is _NUMBER)
    suffix = "".join(parts[at + 2 : at + 6])
    tail = "".join(parts[at + 6 :])
    return f"{''.join(parts[:at])}({parts[at]}){parts[at + 1]}({suffix}){tail}"


def _beginning(atoms: Sequence[_Atom], *, closed: bool) -> str:
    """A pattern of whatever the text may end with that could still become one. One that is `closed`
    by its last atom is complete with it; any other is only once something else follows."""
    pattern = r"\Z"
    for atom in reversed(atoms[:-1] if closed else atoms):
        some = rf"{atom.kind}{{0,{atom.most}}}\Z"
        pattern = f"(?:{some}|{atom.kind}{{{atom.least},{atom.most}}}{pattern})"
    return pattern


def _any(patterns: Sequence[str]) -> str:
    return f"(?:{'|'.join(patterns)})"


_FIRST = "".join(sorted({kind[0] for kind in TYPES}))
_SOON = rf"(?=[\\\[［【{{｛{_FIRST}])"
"""What all of them begin with, asked first since nearly no character is that."""

PLACEHOLDER = re.compile(
    _SOON
    + _any(
        [
            _whole(_DOUBLE),
            _whole(_SINGLE),
            _whole(_ESCAPED),
            _whole(_BRACKETED) + _NO_LINK,
            *(f"{_START}{_whole(atoms)}{_STOP}" for atoms in _BARE),
        ]
    ),
    re.IGNORECASE,
)
"""Anything that looks like one, whoever made it up."""
_UNFINISHED = re.compile(
    _SOON
    + _any(
        [
            _beginning(_DOUBLE, closed=True),
            _beginning(_SINGLE, closed=True),
            _beginning(_ESCAPED, closed=True),
            _beginning(_BRACKETED, closed=False),
            *(f"{_START}{_beginning(atoms, closed=False)}" for atoms in _BARE),
        ]
    ),
    re.IGNORECASE,
)


def written(kind: str, number: int, suffix: str) -> str:
    """The placeholder as it goes out."""
    return f"{{{{{kind}_{number}_{suffix}}}}}"


def read(match: re.Match[str]) -> tuple[int, str]:
    """The number and the suffix of a match of `PLACEHOLDER`."""
    last = match.lastindex or 0
    return int(match[last - 1]), match[last].lower()


def placeholders(text: str, at: int, suffix: str) -> Iterator[re.Match[str]]:
    """Those from `at` on; none are looked for where there cannot be one with this suffix."""
    return PLACEHOLDER.finditer(text, at) if suffix in text.lower() else iter(())


def unfinished(text: str, at: int) -> int:
    """Where, from `at` on, something begins that the next characters could make a placeholder of;
    the text's length where nothing does."""
    found = _UNFINISHED.search(text, max(at, len(text) - LONGEST))
    return len(text) if found is None else found.start()


def draw_suffix(random: Random, taken: Callable[[str], bool]) -> str | None:
    """One that is not `taken`; None where there hardly is any."""
    for _ in range(_TRIES):
        suffix = "".join(map(random.choice, (_CONSONANTS, _DIGITS, _CONSONANTS, _DIGITS)))
        if not taken(suffix):
            return suffix
    return None
