"""Whether two answers say the same (R21), by the cheapest way that can tell."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hybridge.core.response import Completion
from hybridge.core.wire import parse
from hybridge.learning.normalise import normalise
from hybridge.learning.numerals import numbers

Form = Literal["text", "json", "number", "label", "tool_call"]
Method = Literal["exact", "number", "label", "json", "tool_call", "similarity", "ngrams", "judge"]

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.IGNORECASE | re.DOTALL)
_LEAD = re.compile(
    r"(the )?((correct |right )?answer|label|category|sentiment|intent|result|text|review|it|this)"
    r"( \w+){0,2}? is (an? )?|(这条|该)?(答案|标签|类别|情感|意图|结果|评论)(应该)?[是为]"
)
"""How a label is introduced, normalised."""
_VERDICT = re.compile(
    r"(?P<yes>(yes|true|correct)(?![a-z])|是|对|正确)|(?P<no>(no|false|incorrect)(?![a-z])|不|否|错)"
)
"""How a yes or a no begins, normalised."""
LABEL_CHARACTERS = 40
"""A label is a word or two; anything longer is compared as text."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a function, as far as it is compared."""

    name: str
    arguments: str
    """JSON, as the model wrote it."""


@dataclass(frozen=True, slots=True)
class Said:
    """One side's answer."""

    text: str
    calls: Sequence[ToolCall] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a comparison found."""

    agreed: bool
    method: Method
    similarity: float | None = None
    """0-1, where nothing more exact could be compared."""

    @property
    def vague(self) -> bool:
        """Whether it rests on how alike the answers are, so that a judge would know better."""
        return self.method in ("similarity", "ngrams")


def agree(
    edge: Said | str,
    cloud: Said | str,
    form: Form,
    similarity: float | None,
    *,
    similarity_min: float,
) -> Agreement:
    """Compares two answers to the same request; two empty ones do not agree.

    `similarity` is that of sentence embeddings, 0-1; without one, `similarity_text` stands in. The
    seed value of `similarity_min`, 0.85, is SPEC R21's.
    """
    one, other = _said(edge), _said(cloud)
    if one.calls or other.calls:
        return Agreement(_calls(one) == _calls(other), "tool_call")
    if (told := _by_form(one.text, other.text, form)) is not None:
        return told
    plain = normalise(one.text)
    if plain == normalise(other.text):
        return Agreement(bool(plain), "exact")
    if similarity is not None:
        return Agreement(similarity >= similarity_min, "similarity", similarity)
    alike = similarity_text(one.text, other.text)
    return Agreement(alike >= similarity_min, "ngrams", alike)


def similarity_text(one: str, other: str) -> float:
    """Cosine of counts of character trigrams, 0-1: how alike two texts are written, not meant."""
    a, b = _trigrams(one), _trigrams(other)
    dot = sum(count * b[gram] for gram, count in a.items())
    norm = math.sqrt(sum(c * c for c in a.values()) * sum(c * c for c in b.values()))
    return min(1.0, dot / norm) if norm else 0.0


def _said(answer: Said | str) -> Said:
    return Said(answer) if isinstance(answer, str) else answer


def _by_form(edge: str, cloud: str, form: Form) -> Agreement | None:
    """By what the request asked for; None when one of the answers does not have it."""
    if form == "json" and None not in (both := (_json(edge), _json(cloud))):
        return Agreement(both[0] == both[1], "json")
    if form == "number" and (agreed := _same_number(edge, cloud)) is not None:
        return Agreement(agreed, "number")
    if form == "label" and None not in (labels := (_label(edge), _label(cloud))):
        return Agreement(labels[0] == labels[1], "label")
    return None


def _same_number(edge: str, cloud: str) -> bool | None:
    """Compares results; None when one side names no number.

    The last number is the result, and those before it the way there. A side that names just one
    is also right with the first of the other, which may have gone on to explain itself.
    """
    one, other = numbers(edge), numbers(cloud)
    if not one or not other:
        return None
    if len(set(one)) == 1 and "=" not in cloud:
        return any(_is_close(one[0], number) for number in (other[0], other[-1]))
    if len(set(other)) == 1 and "=" not in edge:
        return any(_is_close(other[0], number) for number in (one[0], one[-1]))
    return _is_close(one[-1], other[-1])


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _json(text: str) -> str | None:
    """The JSON value in one fixed spelling: `true` is not 1, and 1 is 1.0."""
    for part in (text, *_FENCED.findall(text)):
        try:
            value = json.loads(part, parse_int=float)
        except (ValueError, RecursionError):
            continue
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return None


def _label(text: str) -> str | None:
    """The label without its introduction; a yes or a no may have its reasons after it."""
    plain = normalise(text)
    lead = _LEAD.match(plain)
    label = plain[lead.end() :] if lead else plain
    if (verdict := _VERDICT.match(label)) is not None:
        return verdict.lastgroup
    return label if 0 < len(label) <= LABEL_CHARACTERS else None


def _calls(said: Said) -> Counter[tuple[str, str]]:
    """Parallel calls have no order."""
    return Counter((call.name, _json(call.arguments) or call.arguments) for call in said.calls)


def _trigrams(text: str) -> Counter[str]:
    padded = f"  {normalise(text)} " if text.strip() else ""
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def said(answer: Completion) -> Said:
    """What an answer said, with the tools that it called."""
    if not answer.has_tool_calls:
        return Said(answer.text)
    first = next(iter(parse(answer.wire).get("choices") or ()), None)
    return Said(answer.text, tool_calls(first.get("message") if isinstance(first, dict) else None))


def tool_calls(message: Any) -> tuple[ToolCall, ...]:
    """The calls of a chat-completions `message` object; what is malformed is left out."""
    found = message.get("tool_calls") if isinstance(message, dict) else None
    functions = [call.get("function") for call in found or () if isinstance(call, dict)]
    return tuple(
        ToolCall(function["name"], str(function.get("arguments") or ""))
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str)
    )
