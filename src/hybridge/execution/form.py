"""Whether an answer is visibly bad, whatever the probabilities of its tokens (R5)."""

from __future__ import annotations

import re

import msgspec

from hybridge.execution.phrases import AMOUNT, CHINESE, HEDGE, LATIN, REFUSAL
from hybridge.execution.wanted import Wanted

LOOP_CHARACTERS = 40
"""A text that ends by repeating itself over at least this many characters is in a loop."""
LOOP_TIMES = 3
"""How often a piece must stand there, one after the other."""
LOOP_PIECE = 80
"""The longest piece whose repetition is looked for, in characters."""
RULE = frozenset("-=_*#.~|+: \n\t")
"""Rows of these are lines and tables, no loops."""
LABEL_CHARACTERS = 200
"""A label with its explanation may be this long; anything longer is no label."""
WORDS_ASTRAY = 8
"""So many words of a wrong language, and none of the right one, are no name or formula."""
_HEDGED = 400
"""Characters at the beginning in which doubt is looked for."""
_VERDICT = re.compile(
    r"\W*(yes|no|true|false)(?![A-Za-z])|\W*(是|不|否|对|错|有|没)", re.IGNORECASE
)
"""How an answer begins that gives its label first and its reasons after."""
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.IGNORECASE | re.DOTALL)


def flaw(text: str, *, finish_reason: str | None, wanted: Wanted) -> str | None:
    """What is visibly wrong with an answer, in a word or two; None when it looks sane.

    With `finish_reason` None the answer is not over, and only what cannot mend is looked at.
    """
    if finish_reason is not None and not text.strip():
        return None if wanted.form == "tool_call" else "empty"
    for_good = _beyond_mending(text, wanted)
    if for_good is not None or finish_reason is None:
        return for_good
    if finish_reason == "length" and not wanted.limited:
        return "cut off"
    return _wrong_form(text, wanted) or _wrong_language(text, wanted)


def _beyond_mending(text: str, wanted: Wanted) -> str | None:
    """What is wrong already with the beginning of an answer, however it goes on."""
    if wanted.head and text.lstrip().startswith(wanted.head):
        return "echo"
    if not wanted.quoting and REFUSAL.match(text):
        return "refusal"
    if not wanted.quoting and HEDGE.search(text[:_HEDGED]):
        return "hedging"
    return "repetition" if _is_loop(text) else None


def _is_loop(text: str) -> bool:
    """Whether the text ends with one piece over and over."""
    tail = text[-LOOP_PIECE * LOOP_TIMES :].rstrip()
    for length in range(1, len(tail) // LOOP_TIMES + 1):
        times = max(LOOP_TIMES, -(-LOOP_CHARACTERS // length))
        piece = tail[-length:]
        if tail.endswith(piece * times) and not set(piece) <= RULE:
            return True
    return False


def _wrong_form(text: str, wanted: Wanted) -> str | None:
    if wanted.form == "json" and not _is_json(text, bare=wanted.bare):
        return "not JSON"
    if wanted.form == "number" and not AMOUNT.search(text):
        return "no number"
    if wanted.form == "label" and len(text.strip()) > LABEL_CHARACTERS:
        return None if _VERDICT.match(text) else "no label"
    return None


def _is_json(text: str, *, bare: bool) -> bool:
    """Whether it is JSON; unless `bare`, it may stand in a fence or between other words."""
    tries = [text]
    if not bare:
        tries += _FENCED.findall(text)
        tries += [text[text.find(a) : text.rfind(b) + 1] for a, b in ("{}", "[]") if a in text]
    return any(map(_decodes, tries))


def _decodes(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _wrong_language(text: str, wanted: Wanted) -> str | None:
    """Only where it is gross: many words of the one script, not a sign of the other."""
    if wanted.language is None or wanted.form == "json" or "```" in text:
        return None
    chinese, latin = len(CHINESE.findall(text)), len(LATIN.findall(text))
    right, wrong = (chinese, latin) if wanted.language == "zh" else (latin, chinese)
    return "wrong language" if not right and wrong >= WORDS_ASTRAY else None
