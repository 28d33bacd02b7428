"""Signs that a request needs reasoning, which small models lack (R1).

Each has a name, which rules and decisions use. What is said is read in `text.plain` spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hybridge.core.request import Feature
from hybridge.routing.phrases import Phrases
from hybridge.routing.sign_words import AMOUNT, IN_TURN, MATHS, WORDS
from hybridge.routing.spotting import Spotted

LONG_HISTORY_TURNS = 6
"""From so many user turns on a conversation is long, whatever its last turn says."""
LONG_HISTORY_TOKENS = 1500
"""Or from so many tokens of earlier turns on."""

_OF_FEATURES = {
    Feature.TOOLS: "tools",
    Feature.REASONING: "reasoning_effort",
    Feature.JSON_SCHEMA: "json_schema",
    Feature.IMAGES: "images",
    Feature.AUDIO: "audio",
    Feature.FILES: "files",
}
TEXT_SIGNS = (*WORDS, "maths", "multi_part")
REQUEST_SIGNS = (*_OF_FEATURES.values(), "tool_result", "long_history")
SIGNS = (*TEXT_SIGNS, *REQUEST_SIGNS)
"""Every sign that a rule may name."""

_TABLE = tuple((name, Phrases(rows)) for name, rows in WORDS.items())
_MATHS, _AMOUNT, _IN_TURN = Phrases(MATHS), Phrases(AMOUNT), Phrases(IN_TURN)
_DIGITS = re.compile(r"[0-9][0-9]*")
_NUMERAL = re.compile(
    r"[一二两三四五六七八九十百千万半](?=[个只头元块斤公米千天年小分人岁本支件名棵])"
)
_NUMBER_WORDS = "two|three|four|five|six|seven|eight|nine|ten|twice|half|third"
_NUMBER = Phrases([(_NUMBER_WORDS, None)])
_NUMBER_WORD = re.compile(rf"\b(?:{_NUMBER_WORDS})\b", re.ASCII)
_PART = re.compile(
    r"^\s*(?:\(?\d{1,2}[.)、:]|[(]?[一二三四五六][)、.]|[-*•]\s)|\([1-4a-d]\)",
    re.MULTILINE | re.ASCII,
)
VOCABULARY = frozenset[str]().union(
    _NUMBER.words, *(p.words for p in (_MATHS, _AMOUNT, _IN_TURN, *dict(_TABLE).values()))
)
"""What has to be spotted in a text before its signs are read."""


def of_text(said: Spotted) -> Iterator[str]:
    """Signs in the words that ask."""
    for name, phrases in _TABLE:
        if phrases.occur(said):
            yield name
    if _MATHS.occur(said) or _is_word_problem(said):
        yield "maths"
    if has_parts(said):
        yield "multi_part"


def of_request(
    features: Iterable[Feature], turns: int, history_tokens: int, *, after_tool: bool = False
) -> Iterator[str]:
    """Signs in what comes with the words: tools, effort, schema, pictures, a long history.

    `after_tool`: whether the last turn is what a tool found.
    """
    for feature in sorted(features):
        if feature in _OF_FEATURES:
            yield _OF_FEATURES[feature]
    if after_tool:
        yield "tool_result"
    if turns >= LONG_HISTORY_TURNS or history_tokens >= LONG_HISTORY_TOKENS:
        yield "long_history"


def has_parts(said: Spotted) -> bool:
    """Whether it is several questions, an enumeration, or one thing after the other."""
    return _has_questions(said.text) or _is_enumeration(said.text) or _IN_TURN.occur(said)


def _has_questions(ask: str) -> bool:
    _, _, after = ask.partition("?")
    return "?" in after.lstrip("?")


def _is_enumeration(ask: str) -> bool:
    """Of one line and without brackets, a text has one part at most."""
    return ("\n" in ask or "(" in ask) and len(_PART.findall(ask)) >= 2


def _is_word_problem(said: Spotted) -> bool:
    """Two numbers and a question for an amount."""
    return _AMOUNT.occur(said) and _numbers(said) >= 2


def _numbers(said: Spotted) -> int:
    """Written in digits, as Chinese numerals with a measure word, or in English words."""
    count = len(_DIGITS.findall(said.text)) + len(_NUMERAL.findall(said.text))
    return count + (len(_NUMBER_WORD.findall(said.text)) if _NUMBER.occur(said) else 0)
