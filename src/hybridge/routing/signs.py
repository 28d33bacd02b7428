"""Signs that a request needs reasoning, which small models lack (R1).

Each has a name, which rules and decisions use. What is said is read in `text.plain` spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hybridge.core.request import Feature
from hybridge.routing.phrases import Phrases
from hybridge.routing.sign_words import AMOUNT, IN_TURN, MATHS, WORDS

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
REQUEST_SIGNS = (*_OF_FEATURES.values(), "long_history")
SIGNS = (*TEXT_SIGNS, *REQUEST_SIGNS)
"""Every sign that a rule may name."""

_TABLE = tuple((name, Phrases(rows)) for name, rows in WORDS.items())
_MATHS, _AMOUNT, _IN_TURN = Phrases(MATHS), Phrases(AMOUNT), Phrases(IN_TURN)
_NUMBER = re.compile(
    r"\d+|[一二两三四五六七八九十百千万半](?=[个只头元块斤公米千天年小分人岁本支件名棵])"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twice|half|third)\b",
    re.ASCII,
)
_PART = re.compile(
    r"^\s*(?:\(?\d{1,2}[.)、:]|[(]?[一二三四五六][)、.]|[-*•]\s)|\([1-4a-d]\)",
    re.MULTILINE | re.ASCII,
)


def of_text(ask: str) -> Iterator[str]:
    """Signs in the words that ask."""
    for name, phrases in _TABLE:
        if phrases.occur(ask):
            yield name
    if _MATHS.occur(ask) or _is_word_problem(ask):
        yield "maths"
    if has_parts(ask):
        yield "multi_part"


def of_request(features: Iterable[Feature], turns: int, history_tokens: int) -> Iterator[str]:
    """Signs in what comes with the words: tools, effort, schema, pictures, a long history."""
    for feature in sorted(features):
        if feature in _OF_FEATURES:
            yield _OF_FEATURES[feature]
    if turns >= LONG_HISTORY_TURNS or history_tokens >= LONG_HISTORY_TOKENS:
        yield "long_history"


def has_parts(ask: str) -> bool:
    """Whether it is several questions, an enumeration, or one thing after the other."""
    questions = len(re.findall(r"\?+", ask))
    return questions >= 2 or len(_PART.findall(ask)) >= 2 or _IN_TURN.occur(ask)


def _is_word_problem(ask: str) -> bool:
    """Two numbers and a question for an amount."""
    return _AMOUNT.occur(ask) and len(_NUMBER.findall(ask)) >= 2
