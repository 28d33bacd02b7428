"""A chat-completions request in the API's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.cloud.anthropic import thinking
from hybridge.cloud.anthropic.tools import forces, tools
from hybridge.cloud.anthropic.turns import turns
from hybridge.cloud.dialect import NoWord
from hybridge.cloud.limits import NAMES
from hybridge.cloud.tolerance import Change, Manner
from hybridge.cloud.tool_ids import WORDLIKE, respelled

_TRANSLATED = frozenset(
    {
        *NAMES, "messages", "metadata", "model", "parallel_tool_calls", "reasoning_effort",
        "response_format", "stop", "stream", "stream_options", "temperature", "tool_choice",
        "tools", "user",
    }
)  # fmt: skip
_MEANINGLESS = frozenset(
    {
        "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store",
    }
)  # fmt: skip
"""Fields for OpenAI's own bookkeeping, which change no answer."""
_WITHOUT_WORD: Mapping[str, tuple[Any, ...]] = {
    "audio": (),
    "frequency_penalty": (0,),
    "function_call": (),
    "functions": (),
    "logit_bias": ({},),
    "logprobs": (False,),
    "modalities": (["text"],),
    "n": (1,),
    "prediction": (),
    "presence_penalty": (0,),
    "seed": (),
    "top_logprobs": (0,),
    "verbosity": ("medium",),
    "web_search_options": (),
}
"""Fields that the API has no word for, with the values that ask for nothing."""
HOTTEST = 1.0
"""The API's temperatures end where OpenAI's have their middle; what is above is set to this."""


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The caller's JSON schema with its name; None where none is asked for. Raises `NoWord`."""
    wanted = body.get("response_format") or {"type": "text"}
    if wanted.get("type") not in ("text", "json_schema"):
        raise NoWord("response_format", f"the format {wanted.get('type')!r}")
    schema = wanted.get("json_schema")
    return schema if isinstance(schema, Mapping) else None


def request(
    body: Mapping[str, Any], model: str, default_limit: int, manner: Manner
) -> dict[str, Any]:
    """The body to post. Raises `NoWord` for what cannot be asked for; nothing is left out that
    would change the answer. Fields that nobody here knows are passed on, the API's own among them.
    """
    for name, nothing in _WITHOUT_WORD.items():
        if body.get(name) is not None and body[name] not in nothing:
            raise NoWord(name, "it")
    left_out = _TRANSLATED | _MEANINGLESS | _WITHOUT_WORD.keys()
    made = {key: value for key, value in body.items() if key not in left_out and value is not None}
    messages = respelled(body.get("messages") or [], WORDLIKE)
    system, said = turns(messages)
    made |= {"model": model, "messages": said}
    if system:
        made["system"] = system
    return made | _plain(body) | _asked_for(body, messages, default_limit, manner)


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """What needs another name or bound only."""
    made: dict[str, Any] = {}
    if body.get("stream"):
        made["stream"] = True
    if body.get("temperature") is not None:
        made["temperature"] = min(body["temperature"], HOTTEST)
    if stop := body.get("stop"):
        made["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    user = body.get("user") or (body.get("metadata") or {}).get("user_id")
    if isinstance(user, str):
        made["metadata"] = {"user_id": user}
    return made


def _asked_for(
    body: Mapping[str, Any], messages: Any, default_limit: int, manner: Manner
) -> dict[str, Any]:
    """Tools, the form of the answer, thinking, and the limit that holds for both."""
    schema = schema_of(body)
    by_tool = schema is not None and Change.SCHEMA_AS_TOOL in manner
    made = tools(body, schema if by_tool else None)
    config: dict[str, Any] = {}
    if schema is not None and not by_tool:
        config["format"] = {"type": "json_schema", "schema": schema.get("schema") or {}}
    limit = next((body[name] for name in NAMES if body.get(name) is not None), None)
    wanted, forced = thinking.effort(body), forces(made)
    made["max_tokens"] = default_limit if limit is None else limit
    if wanted and Change.THINKING_BUDGET in manner:
        made |= thinking.budgeted(wanted, limit, messages, forced=forced)
    elif wanted:
        members = thinking.adaptive(wanted, forced=forced)
        config |= members.pop("output_config")
        made |= members
    if wanted and limit is None and "thinking" in made:
        made["max_tokens"] += thinking.BUDGETS[wanted]
    return made | ({"output_config": config} if config else {})
