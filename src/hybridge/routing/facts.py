"""What routing knows of a request before anybody has answered it."""

from __future__ import annotations

import json

from msgspec import Struct

from hybridge.core.request import Feature, Message, Request
from hybridge.routing import signs, tasks
from hybridge.routing.language import language_of
from hybridge.routing.spotting import Spotted, Spotter
from hybridge.routing.text import plain, unquoted, window
from hybridge.routing.tokens import estimate_tokens, measure

__all__ = ["Facts", "estimate_prompt_tokens", "estimate_tokens", "gather"]

MESSAGE_TOKENS = 5
"""What a chat template adds per message (its role and separators)."""
IMAGE_TOKENS = 1024
"""What a picture costs at most models' default resolution."""
FOLLOW_UP_TOKENS = 12
"""Up to so many tokens a turn cannot stand alone: `and why?`, `继续`."""
_SYSTEM_CHARS = 600
"""A longer system text sets a scene; it does not name one small task."""
_SPOTTER = Spotter(signs.VOCABULARY | tasks.VOCABULARY)


class Facts(Struct, frozen=True):
    """One request, measured. Nothing in it comes from outside the request."""

    text: str
    """The last user turn, whole and as it was written."""
    ask: str
    """The part of it that asks, in `text.plain` spelling and at most 2,000 characters. The material
    of a task that works on a text (translation, correction …) is left out."""
    language: str
    """`en`, `zh`, `mixed`, `ja`, `ko`, `other` or empty."""
    task: str
    """One of `tasks.TASKS`."""
    chars: int
    """Characters of the last user turn."""
    tokens: int
    """Tokens of the last user turn, estimated on the safe side."""
    prompt_tokens: int
    """Tokens of everything that is sent: all turns, tools, pictures; estimated on the safe side."""
    turns: int
    """User turns, this one included."""
    max_tokens: int | None
    reasoning: tuple[str, ...]
    """Signs that it needs reasoning, out of `signs.SIGNS`."""
    features: frozenset[Feature]
    short_follow_up: bool
    """So short that it hangs on what was said before, and brings no material of its own."""


def gather(request: Request) -> Facts:
    """Reads a request once. Linear; only the ends of a long text are searched for words."""
    text = request.last_user_text
    size = measure(text)
    turns = sum(message.role == "user" for message in request.messages)
    clear = plain(window(text))
    asking = _SPOTTER.spot(unquoted(clear))
    reading = _read(clear, asking, request.messages)
    reasoning = (
        *_said(reading, asking),
        *signs.of_request(
            request.features, turns, _before(request), after_tool=_after_tool(request)
        ),
    )
    return Facts(
        text=text,
        ask=reading.ask,
        language=language_of(size),
        task=reading.given(reasoning).task,
        chars=len(text),
        tokens=size.tokens,
        prompt_tokens=_prompt_tokens(request, text, size.tokens),
        turns=turns,
        max_tokens=request.max_tokens,
        reasoning=reasoning,
        features=request.features,
        short_follow_up=size.tokens <= FOLLOW_UP_TOKENS and not _stands_alone(reading, text),
    )


def estimate_prompt_tokens(request: Request) -> int:
    """`Facts.prompt_tokens` alone, for a request whose route is settled: about 7 µs."""
    text = request.last_user_text
    return _prompt_tokens(request, text, estimate_tokens(text))


def _read(clear: str, asking: Spotted, messages: tuple[Message, ...]) -> tasks.Reading:
    """What the last turn asks for; where it asks for nothing, what a short system text does.

    `Translate what the user writes` as the system text makes the user's turn its material.
    """
    reading = tasks.read(clear, asking)
    system = "\n".join(m.text for m in messages if m.role in ("system", "developer"))
    if reading.task not in (tasks.CHAT, tasks.QA, tasks.GREETING) or not system:
        return reading
    if len(system) > _SYSTEM_CHARS:
        return reading
    standing = plain(system)
    named = tasks.read(standing, _SPOTTER.spot(unquoted(standing)))
    if named.task not in tasks.ON_A_TEXT or named.others:
        return reading
    return tasks.Reading(named.task, (), f"{named.ask}\n{reading.ask}")


def _said(reading: tasks.Reading, asking: Spotted) -> tuple[str, ...]:
    """Signs in what is said; two tasks in one request are one more."""
    if reading.task == tasks.GREETING:
        return ()
    said = tuple(
        signs.of_text(asking if asking.text == reading.ask else _SPOTTER.spot(reading.ask))
    )
    return (*said, "multi_part") if reading.others and "multi_part" not in said else said


def _after_tool(request: Request) -> bool:
    return bool(request.messages) and request.messages[-1].role in ("tool", "function")


def _before(request: Request) -> int:
    """Tokens of the earlier turns, roughly: three characters each."""
    turns = (m for m in request.messages if m.role not in ("system", "developer"))
    return (sum(len(m.text) for m in turns) - len(request.last_user_text)) // 3


def _prompt_tokens(request: Request, last: str, last_tokens: int) -> int:
    """The last turn is measured already; the rest is, and what the template and tools add."""
    rest = request.text.replace(last, "", 1) if len(request.messages) > 1 else ""
    tools = request.body.get("tools") if Feature.TOOLS in request.features else None
    written = json.dumps(tools, ensure_ascii=False, default=str) if tools else ""
    pictures = sum(message.images for message in request.messages)
    frame = MESSAGE_TOKENS * len(request.messages) + IMAGE_TOKENS * pictures
    return last_tokens + frame + sum(estimate_tokens(part) for part in (rest, written) if part)


def _stands_alone(reading: tasks.Reading, text: str) -> bool:
    """Whether a short turn brings the text it wants worked on: `translate "cat" into French`."""
    return reading.task in tasks.ON_A_TEXT and any(mark in text for mark in "\"'“「:：")
