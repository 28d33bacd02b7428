"""How much a model is to think before it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.cloud.anthropic.turns import THOUGHTS

BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768, "max": 65536}
"""Tokens of thought for OpenAI's words; the API's own words for effort are the same ones."""
LEAST = 1024
"""The API takes no smaller budget."""


def effort(body: Mapping[str, Any]) -> str | None:
    """The caller's `reasoning_effort`; None for none, or where it speaks of thinking itself."""
    wanted = body.get("reasoning_effort")
    return wanted if wanted in BUDGETS and not body.get("thinking") else None


def adaptive(wanted: str, *, forced: bool) -> dict[str, Any]:
    """As models from 4.6 on want it: the model decides, within an effort. A tool that has to be
    called rules out thinking, though not the effort."""
    members: dict[str, Any] = {"output_config": {"effort": wanted}}
    return members if forced else members | {"thinking": {"type": "adaptive"}}


def budgeted(wanted: str, limit: int | None, messages: Any, *, forced: bool) -> dict[str, Any]:
    """As models before want it: a budget of at most half of the caller's limit.

    Nothing where the limit leaves no room, where a tool has to be called, and where tools were
    called without the thoughts that led to them, which the API then asks for.
    """
    budget = BUDGETS[wanted] if limit is None else min(BUDGETS[wanted], limit // 2)
    if forced or budget < LEAST or _thoughtless_calls(messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _thoughtless_calls(messages: Any) -> bool:
    answers = [m for m in messages if m.get("role") == "assistant"]
    return bool(answers and answers[-1].get("tool_calls") and not answers[-1].get(THOUGHTS))
