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
from hybridge.privacy.detectors.numbers import Family, Numbers
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.normalise import normalise
from hybridge.privacy.view import MOST, Crowded, Tally, View

Detector = Callable[[View], Iterable[Finding]]

_NUMBERS = Numbers(
    (
        Family(phones.claim_mobile, range(11, 16), phones.USUAL),
        Family(identity.claim_chinese_id, range(15, 19), identity.USUAL),
        Family(identity.claim_social_security, range(9, 10)),
        Family(cards.claim_bank_card, range(12, 20), cards.USUAL),
        Family(phones.claim_other, range(7, 16)),
    )
)

_ANYWHERE: tuple[Detector, ...] = (
    emails.detect,
    credentials.detect,
    accounts.detect,
    people.detect,
)
_WITH_DIGITS: tuple[Detector, ...] = (
    networks.detect,
    plates.detect,
    addresses.detect,
    people.birthdays,
    *_ANYWHERE,
)
_WITH_LONG_NUMBERS: tuple[Detector, ...] = (
    _NUMBERS.detect,
    companies.detect,
    identity.detect,
    cards.detect,
    *_WITH_DIGITS,
)
"""Who can find something in a text; most texts have no digit or no long number in them."""

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
_SHORTEST = 5
"""Characters that can hold anything of anybody."""
_MOST_AFTERWARDS = MOST * 3 // 10
"""Candidates that are judged in each piece after the first: 50 ms for 100 kB, whatever is in it."""


def detect(text: str) -> tuple[Finding, ...]:
    """All personal data in a text, in order, never overlapping. Indexes are those of `text`."""
    whole = len(text) <= PIECE
    found = _in_piece(text, 0, len(text), Tally()) if whole else list(_in_pieces(text))
    return tuple(resolve(found)) if found else ()


def _look_plain(view: View) -> list[Finding]:
    looks = _WITH_DIGITS if view.digits else _ANYWHERE
    if view.long_numbers:
        looks = _WITH_LONG_NUMBERS
    return [finding for look in looks for finding in look(view)]


_look_encoded = encoded(_look_plain)


def _in_pieces(text: str) -> Iterator[Finding]:
    """Piece by piece; each piece speaks for what begins in it, clear of its own edges. What comes
    after a crowded one is not looked at any more: it belongs to the crowd."""
    most = MOST
    for low in range(0, max(1, len(text) - _MARGIN), PIECE - 2 * _MARGIN):
        first = _MARGIN if low else 0
        last = PIECE - _MARGIN if low + PIECE < len(text) else PIECE
        tally = Tally(most)
        for found in _in_piece(text[low : low + PIECE], first, last, tally):
            end = len(text) if tally.crowded else low + found.end
            yield Finding(found.type, low + found.start, end, found.level)
        if tally.crowded:
            return
        most = _MOST_AFTERWARDS


def _in_piece(text: str, first: int, last: int, tally: Tally) -> list[Finding]:
    """What begins in [first, last); when it is crowded, all from `first` on as one finding."""
    plain = normalise(text)
    view = View.of(plain.text, tally)
    try:
        found = [*_look_plain(view), *_look_encoded(view)]
    except Crowded as crowded:
        return [Finding(crowded.kind, first, len(text), Level.MEDIUM)]
    if plain.offsets is not None:
        spans = [plain.original(finding.start, finding.end) for finding in found]
        found = [Finding(f.type, *span, f.level) for f, span in zip(found, spans, strict=True)]
    return (
        found if last == len(text) and not first else [f for f in found if first <= f.start < last]
    )


def resolve(found: list[Finding]) -> Iterator[Finding]:
    """In order; of findings that overlap, the surest, then the most telling, then the longest."""
    overlapping: list[Finding] = []
    end = 0
    for finding in sorted(_in_company(found), key=_start):
        if finding.start >= end:
            yield from _best(overlapping)
            overlapping = []
        overlapping.append(finding)
        end = max(end, finding.end)
    yield from _best(overlapping)


def _start(finding: Finding) -> int:
    return finding.start


def _best(overlapping: list[Finding]) -> list[Finding]:
    if len(overlapping) < 2:
        return overlapping
    kept: list[Finding] = []
    for finding in sorted(overlapping, key=_weight):
        at = bisect_left(kept, finding.start, key=_start)
        clear_left = at == 0 or kept[at - 1].end <= finding.start
        clear_right = at == len(kept) or finding.end <= kept[at].start
        if clear_left and clear_right:
            kept.insert(at, finding)
        elif _crowded(finding):
            kept = sorted([*kept, *_around(finding, kept)], key=_start)
    return kept


def _crowded(finding: Finding) -> bool:
    return finding.end - finding.start > _MARGIN


def _around(crowded: Finding, kept: list[Finding]) -> Iterator[Finding]:
    """What the others leave of it."""
    start = crowded.start
    for other in kept:
        if start + _SHORTEST <= min(other.start, crowded.end):
            yield replace(crowded, start=start, end=min(other.start, crowded.end))
        start = max(start, other.end)
    if start < crowded.end:
        yield replace(crowded, start=start)


def _weight(finding: Finding) -> tuple[bool, int, int, int]:
    rank = _PRECEDENCE[finding.type]
    return _crowded(finding), -finding.level, rank, finding.start - finding.end


def _in_company(found: list[Finding]) -> list[Finding]:
    """A title and a name say little; beside a telephone number they say whose it is."""
    if not any(f.level >= Level.MEDIUM and f.type not in _COMPANIONS for f in found):
        return found
    return [
        replace(f, level=Level.MEDIUM) if f.level is Level.LOW and f.type in _COMPANIONS else f
        for f in found
    ]
