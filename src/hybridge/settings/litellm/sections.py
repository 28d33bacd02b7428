"""The other sections: keys, money, time and the cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hybridge.settings.litellm.models import Backend
from hybridge.settings.litellm.source import Source, variable

PORT = 4000
"""Where LiteLLM's clients look for their proxy."""
_DAILY, _MONTHLY = ("1d", "24h"), ("1mo", "30d")
_LOCAL_MODEL = "qwen2.5-0.5b"


def sections(source: Source, rows: Sequence[Backend]) -> dict[str, Any]:
    """Everything but the fallbacks, in the order in which it is written."""
    made = {
        "server": {"port": PORT} | dict(_keys(source)),
        "edge": {"backends": _edge(rows)},
        "cloud": {"backends": [backend.row for backend in rows if backend.tier == "cloud"]},
        "execution": dict(_times(source)),
        "budget": dict(_budget(source)),
        "cache": dict(_cache(source)),
    }
    _note_environment(source)
    return {name: section for name, section in made.items() if section}


def _edge(rows: Sequence[Backend]) -> list[dict[str, Any]]:
    """The local servers; without one, the model that a gateway has when nobody says."""
    local = [backend.row for backend in rows if backend.tier == "edge"]
    taken = {backend.name for backend in rows}
    name = "local"
    while name in taken:
        name += "-model"
    return local or [{"name": name, "engine": "llamacpp", "model": _LOCAL_MODEL}]


def _keys(source: Source) -> Iterator[tuple[str, Any]]:
    key = source.take("general_settings", "master_key")
    if key is None:
        return
    named = variable(key)
    if named is None:
        named = "LITELLM_MASTER_KEY"
        what = f"keys are not kept in files: put it in the environment as {named}"
        source.note(("general_settings", "master_key"), what)
    yield "api_keys", [{"name": "master", "key_env": named}]


def _times(source: Source) -> Iterator[tuple[str, float]]:
    deadline = _first(source, "request_timeout", "timeout")
    if deadline is not None and deadline > 0:
        yield "deadline_s", deadline
    failures = _first(source, "allowed_fails")
    if failures is not None:
        yield "breaker_failures", max(1, int(failures) + 1)  # theirs are still allowed
    cooldown = _first(source, "cooldown_time")
    if cooldown is not None and cooldown > 0:
        yield "breaker_open_s", cooldown


def _budget(source: Source) -> Iterator[tuple[str, float]]:
    most = source.look("litellm_settings", "max_budget")
    duration = source.look("litellm_settings", "budget_duration")
    if not isinstance(most, int | float):
        return
    if duration in (*_DAILY, *_MONTHLY):
        source.take("litellm_settings", "max_budget")
        source.take("litellm_settings", "budget_duration")
        yield "daily_usd" if duration in _DAILY else "monthly_usd", most
    else:
        what = "budgets here are per day or month: set `budget.daily_usd` or `.monthly_usd`"
        source.note(("litellm_settings", "max_budget"), what)


def _cache(source: Source) -> Iterator[tuple[str, float]]:
    if source.take("litellm_settings", "cache") is not True:
        return
    ttl = source.take("litellm_settings", "cache_params", "ttl")
    yield "ttl_s", ttl if isinstance(ttl, int | float) else 300
    if source.look("litellm_settings", "cache_params", "type") == "local":
        source.take("litellm_settings", "cache_params", "type")


def _first(source: Source, *keys: str) -> float | None:
    """The first number that one of the two sections has under one of the keys."""
    for section in ("litellm_settings", "router_settings"):
        for key in keys:
            if isinstance(source.look(section, key), int | float):
                return float(source.take(section, key))
    return None


def _note_environment(source: Source) -> None:
    names = source.look("environment_variables")
    for name in names if isinstance(names, dict) else ():
        what = f"set {name} in the environment of `hybridge serve`, if it is needed"
        source.note(("environment_variables", name), what)
