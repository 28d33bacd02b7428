"""What a request asks to be done, from the words it asks with, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hybridge.routing.phrases import Phrases, Span
from hybridge.routing.spotting import Spotted
from hybridge.routing.task_words import GREETING as HELLO
from hybridge.routing.task_words import WORDS
from hybridge.routing.text import QUOTE

GREETING, CODE, MATH, REASONING, QA, CHAT = "greeting", "code", "math", "reasoning", "qa", "chat"
TASKS = (*WORDS, GREETING, CODE, MATH, REASONING, QA, CHAT)
"""Every task that a rule may name."""
ON_A_TEXT = frozenset(WORDS) - {"writing"}
"""Tasks that work on a text: what they quote is material and asks for nothing itself."""

_TABLE = tuple((task, Phrases(rows)) for task, rows in WORDS.items())
_GREETING = re.compile(rf"[\W_]*(?:(?:{HELLO})[\s,.!?~。、…:)(^_*♪-]*)+[^\w]*")
_GREETING_CHARS = 60
_QUESTION = Phrases([
    ("?|什么|谁|哪|何时|怎么|如何|多少|多大|多久|几个|几天|几年|几月", None),
    ("wh|how", "", r"\b(?:what|who|whom|whose|when|where|which|why|how)\b"),
    ("吗|呢", r"[吗呢][?。!\s]*$"),
])  # fmt: skip
VOCABULARY = _QUESTION.words.union(*(phrases.words for _, phrases in _TABLE))
"""What has to be spotted in a text before its task is read."""
_MATERIAL = re.compile(
    r"[^\n:]{0,160}(?::\s*|\n\s*(?!then|and|also|next|finally|now|然后|再|并|接着|最后|\d+[.)、]))"
    r"(.+?)(?=\n\s*\n|\Z)",
    re.DOTALL,
)
_BY_SIGN = {"proof": REASONING, "logic": REASONING, "code": CODE, "maths": MATH}
"""Work that no words of `WORDS` ask for is named by the strongest sign of reasoning."""


class Reading(Struct, frozen=True):
    """What a text asks for."""

    task: str
    """One of `TASKS`."""
    others: tuple[str, ...]
    """Further tasks that it asks for beside the first."""
    ask: str
    """The text; for a task that works on a text, without the words that name the task and without
    the text it works on."""

    def given(self, signs: tuple[str, ...]) -> Reading:
        """The same reading where signs of reasoning tell more of the task than its words do."""
        if self.task not in (QA, CHAT):
            return self
        named = next((task for sign, task in _BY_SIGN.items() if sign in signs), None)
        return self if named is None else replace(self, task=named)


def read(plain_text: str, spotted: Spotted) -> Reading:
    """Tells the task. `plain_text` is in `text.plain` spelling, `spotted` the same unquoted."""
    if len(plain_text) <= _GREETING_CHARS and _GREETING.fullmatch(plain_text.strip()):
        return Reading(GREETING, (), plain_text)
    asking, found = spotted.text, tuple(_found(spotted))
    if not found:
        return Reading(QA if _QUESTION.occur(spotted) else CHAT, (), plain_text)
    task, words = _first(found)
    if task not in ON_A_TEXT:
        return Reading(task, _beside(found, words), plain_text)
    material = _material(asking, words[1])
    pieces = asking[: words[0]], asking[words[1] : material[0]], asking[material[1] :]
    ask = " ".join(pieces).replace(QUOTE, " ").strip()
    return Reading(task, _beside(found, words, material), ask)


def _found(asking: Spotted) -> Iterator[tuple[str, Span]]:
    for task, phrases in _TABLE:
        span = phrases.find(asking)
        if span is not None:
            yield task, span


def _first(found: Sequence[tuple[str, Span]]) -> tuple[str, Span]:
    """The one that begins first; of several that overlap with it, the earliest row of `WORDS`."""
    end = min(span for _, span in found)[1]
    return next(hit for hit in found if hit[1][0] < end)


def _material(asking: str, start: int) -> Span:
    """The text it works on: from the colon or the line break after it to the paragraph's end."""
    match = _MATERIAL.match(asking, start)
    return match.span(1) if match else (len(asking), len(asking))


def _beside(
    found: Sequence[tuple[str, Span]], words: Span, material: Span = (0, 0)
) -> tuple[str, ...]:
    """Tasks whose words stand apart from the first one's, and outside its material."""
    return tuple(
        task
        for task, (start, _) in found
        if start >= words[1] and not material[0] <= start < material[1]
    )
