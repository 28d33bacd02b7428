"""Which language a text is in, as far as its script tells."""

from __future__ import annotations

from hybridge.routing.tokens import Measure

ENGLISH, CHINESE, MIXED, JAPANESE, KOREAN, OTHER, NONE = (
    "en",
    "zh",
    "mixed",
    "ja",
    "ko",
    "other",
    "",
)
LANGUAGES = (ENGLISH, CHINESE, MIXED, JAPANESE, KOREAN, OTHER, NONE)

_LETTERS_PER_CHARACTER = 3
"""A Chinese character says about as much as three Latin letters."""
_PURE = 0.85
"""From this share on, the other script is only a name or a term."""


def language_of(measure: Measure) -> str:
    """`en` (any language in Latin letters), `zh`, `mixed` (both), `ja`, `ko`, `other` or `""`.

    A script cannot tell French from English; routing needs no more than this.
    """
    east = measure.han + measure.kana + measure.hangul
    west = measure.latin / _LETTERS_PER_CHARACTER
    foreign = measure.letters / _LETTERS_PER_CHARACTER
    if not east + west + foreign:
        return NONE
    if foreign > east + west:
        return OTHER
    if east < (1 - _PURE) * (east + west):
        return ENGLISH
    if 4 * measure.hangul > east:
        return KOREAN
    if 6 * measure.kana > east:
        return JAPANESE
    return CHINESE if east >= _PURE * (east + west) else MIXED
