"""What an answer shows of its worth: how sure its tokens were, and how it looks beside the request.

Features are plain numbers in a fixed order (`NAMES`); `docs/explanation/confidence.md` says which
of them earn their place. None looks at what the words mean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from hybridge.execution import asked, sureness
from hybridge.execution.wanted import Wanted

LOOKED_AT = 1000
"""Characters of the answer whose words are looked at: a long text shows its manner soon."""
_WORD = re.compile(r"[a-z]+|\d+|[\u4e00-\u9fff]")
_END = ".。!！?？"

TRAITS = (
    "tokens", "words", "brief", "cut", "open", "copied", "contained", "ratio", "distinct", "digit",
    "new_number", "chinese", "json", "number", "label", "lines", "fence", "ended", "asked_chinese",
)  # fmt: skip
NAMES = (*sureness.NAMES, *TRAITS, *asked.NAMES)
RISING = len(sureness.NAMES)
"""The first so many never lower the confidence when they rise."""


def features(
    logprobs: Sequence[float], text: str, *, finish_reason: str | None, wanted: Wanted
) -> list[float]:
    """As `NAMES` lists them; at least one log-probability. Some 100 µs for 200 tokens."""
    return sureness.features(logprobs) + _traits(len(logprobs), text, finish_reason, wanted)


def _traits(tokens: int, text: str, finish_reason: str | None, wanted: Wanted) -> list[float]:
    said = text[:LOOKED_AT].casefold().strip()
    words = _WORD.findall(said)
    bare = said.rstrip(_END)
    known = wanted.words
    return [
        math.log1p(min(tokens, sureness.HEAD)),
        math.log1p(len(words)),
        wanted.brief,
        finish_reason == "length",
        finish_reason is None,
        sum(word in known for word in words) / max(1, len(words)),
        bool(bare) and bare in wanted.asked,
        math.log((1 + len(said)) / (1 + len(wanted.asked))),
        len(set(words)) / max(1, len(words)),
        any(word.isdigit() for word in words),
        any(word.isdigit() and word not in known for word in words),
        sum(word >= "\u4e00" for word in words) / max(1, len(words)),
        wanted.form == "json",
        wanted.form == "number",
        wanted.form == "label",
        "\n" in said,
        "```" in said,
        finish_reason is not None and said.endswith(tuple(_END)),
        wanted.script == "zh",
        *wanted.traits,
    ]
