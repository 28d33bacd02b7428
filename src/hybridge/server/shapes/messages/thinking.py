"""How hard the model shall think, and whether its thoughts are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import COUNT, OBJECTS, one_of, wrong

_ON, _OFF = ("enabled", "adaptive"), ("disabled", "between_tools")
_KIND = one_of(*_ON, *_OFF)
_DISPLAY = one_of("summarized", "omitted", "updates")
_HIDDEN = ("omitted", "updates")
"""Displays that hide thoughts. Updates, like what comes `between_tools`, are notes for the user by
models that write such."""
_EFFORTS = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
"""Anthropic's levels of effort, and the highest that is common among others."""
_EFFORT = one_of(*_EFFORTS)
_DEFAULT = "high"
"""An effort that says as much as none (source: Anthropic's guide to effort)."""
LOW_TO, MEDIUM_TO = 4608, 16384
"""Budgets, in tokens, up to which an effort is low or medium. Google takes the three for 1,024,
8,192 and 24,576 tokens (its guide to OpenAI compatibility); these lie half-way between."""
_LEAST = 1024


def shows_thoughts(said: Mapping[str, Any]) -> bool:
    """Whether the answer may hold thoughts: only for who asked for them, since others take the
    first block of an answer for its text."""
    thinking = said.get("thinking") or {}
    return thinking.get("type") in _ON and thinking.get("display") not in _HIDDEN


def read_effort(said: Mapping[str, Any]) -> str | None:
    """`reasoning_effort`; None leaves it to the model. Raises `RequestError`.

    A named effort goes before a budget. Who switches thinking off asks for none.
    """
    thinking = said.get("thinking")
    kind, effort = _read_kind(thinking), (said.get("output_config") or {}).get("effort")
    if effort is not None and not _EFFORT.fits(effort):
        raise wrong("output_config.effort", _EFFORT.said, effort)
    budget = _read_budget(thinking) if thinking and kind == "enabled" else None
    if kind in _OFF or (kind != "enabled" and effort == _DEFAULT):
        return None
    if effort is not None:
        return _EFFORTS[effort]
    return None if budget is None else _by_budget(budget)


def check_context(said: Mapping[str, Any] | None) -> None:
    """Raises `RequestError` for an edit of the conversation that is not made here.

    To clear thoughts needs no doing: those of earlier turns never travel.
    """
    if said is None:
        return
    only(said, ("edits",), "context_management")
    edits = said.get("edits") or []
    if not OBJECTS.fits(edits):
        raise wrong("context_management.edits", OBJECTS.said, edits)
    for index, edit in enumerate(edits):
        if not str(edit.get("type")).startswith("clear_thinking_"):
            where = f"context_management.edits.{index}.type"
            raise unsupported(where, "is not supported: conversations are not edited here")


def _read_kind(thinking: Mapping[str, Any] | None) -> str | None:
    if thinking is None:
        return None
    kind, display = thinking.get("type"), thinking.get("display")
    if not _KIND.fits(kind):
        raise wrong("thinking.type", _KIND.said, kind)
    only(thinking, ("type", "budget_tokens", "display"), "thinking")
    if display is not None and not _DISPLAY.fits(display):
        raise wrong("thinking.display", _DISPLAY.said, display)
    return str(kind)


def _read_budget(thinking: Mapping[str, Any]) -> int:
    budget = thinking.get("budget_tokens")
    if budget is None or not COUNT.fits(budget) or budget < _LEAST:
        wanted = f"a whole number of at least {_LEAST}"
        raise wrong("thinking.budget_tokens", wanted, budget)
    return int(budget)


def _by_budget(budget: int) -> str:
    if budget <= LOW_TO:
        return "low"
    return "medium" if budget <= MEDIUM_TO else "high"
