"""The always-on layer of detection: normalise, look, resolve. Linear in the text's length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from hybridge.privacy.detectors import (
    accounts,
    addresses,
    cards,
    companies,
    credentials,
    emails,
    identity,
    networks,
    people,
    phones,
    plates,
)
from hybridge.privacy.detectors.encoded import encoded
from hybridge.privacy.detectors.numbers import numbers
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.normalise import normalise
from hybridge.privacy.view import View

Detector = Callable[[View], Iterable[Finding]]

_PLAIN: tuple[Detector, ...] = (
    numbers(
        (
            phones.claim_mobile,
            identity.claim_chinese_id,
            identity.claim_social_security,
            cards.claim_bank_card,
            phones.claim_other,
        )
    ),
    companies.detect,
    identity.detect,
    networks.detect,
    cards.detect,
    plates.detect,
    addresses.detect,
    emails.detect,
    credentials.detect,
    accounts.detect,
    people.detect,
)

_WITHOUT_DIGITS: tuple[Detector, ...] = (
    emails.detect,
    credentials.detect,
    accounts.detect,
    people.detect,
)
"""Those that can find something in a text without a digit in it; the others need not be asked."""

_PRECEDENCE = {
    kind: rank
    for rank, kind in enumerate(
        (
            *("SECRET", "CN_ID", "USCC", "IBAN", "BANK_CARD", "PASSPORT", "EMAIL", "PLATE"),
            *("US_SSN", "PHONE", "ADDRESS", "ACCOUNT", "DOB", "IP", "PERSON"),
        )
    )
}
"""Who keeps a span that two families claim at the same level."""

_COMPANIONS = frozenset({"PERSON", "ADDRESS", "IP"})
"""Weak signs that become personal data beside other personal data."""

PIECE = 16_384
"""Characters looked at in one go, so that a pattern never holds the interpreter for long."""
_MARGIN = 512
"""Overlap of two pieces: longer than any entity with its context."""


def detect(text: str) -> tuple[Finding, ...]:
    """All personal data in a text, in order, never overlapping. Indexes are those of `text`."""
    found = _in_piece(text) if len(text) <= PIECE else list(_in_pieces(text))
    return tuple(resolve(found)) if found else ()


def _look_plain(view: View) -> list[Finding]:
    looks = _PLAIN if view.digits else _WITHOUT_DIGITS
    return [finding for look in looks for finding in look(view)]


_look_encoded = encoded(_look_plain)


def _in_pieces(text: str) -> Iterator[Finding]:
    """Piece by piece; each piece speaks for what begins in it, clear of its own edges."""
    for low in range(0, max(1, len(text) - _MARGIN), PIECE - 2 * _MARGIN):
        first = _MARGIN if low else 0
        last = PIECE - _MARGIN if low + PIECE < len(text) else PIECE
        for finding in _in_piece(text[low : low + PIECE]):
            if first <= finding.start < last:
                yield replace(finding, start=low + finding.start, end=low + finding.end)


def _in_piece(text: str) -> list[Finding]:
    plain = normalise(text)
    view = View.of(plain.text)
    found = [*_look_plain(view), *_look_encoded(view)]
    if plain.offsets is None:
        return found
    spans = [plain.original(finding.start, finding.end) for finding in found]
    return [
        replace(finding, start=start, end=end)
        for finding, (start, end) in zip(found, spans, strict=True)
    ]


def resolve(found: list[Finding]) -> list[Finding]:
    """Of findings that overlap, the surest, then the most telling, then the longest."""
    kept: list[Finding] = []
    for finding in sorted(_in_company(found), key=_weight):
        at = bisect_left(kept, finding.start, key=lambda other: other.start)
        clear_left = at == 0 or kept[at - 1].end <= finding.start
        clear_right = at == len(kept) or finding.end <= kept[at].start
        if clear_left and clear_right:
            kept.insert(at, finding)
    return kept


def _weight(finding: Finding) -> tuple[int, int, int]:
    return -finding.level, _PRECEDENCE[finding.type], finding.start - finding.end


def _in_company(found: list[Finding]) -> Iterable[Finding]:
    """A title and a name say little; beside a telephone number they say whose it is."""
    if not any(f.level >= Level.MEDIUM and f.type not in _COMPANIONS for f in found):
        return found
    return [
        replace(f, level=Level.MEDIUM) if f.type in _COMPANIONS and f.level is Level.LOW else f
        for f in found
    ]
