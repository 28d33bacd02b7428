"""What the engine is asked for a request: nothing that was asked for is dropped in silence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from hybridge.core.backend import Call
from hybridge.edge import grammar
from hybridge.edge.refused import Refused
from hybridge.edge.turns import turns

SAMPLED = (
    "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty",
    "repeat_penalty", "logit_bias", "chat_template_kwargs",
)  # fmt: skip
"""Fields that go to llama.cpp as they are. What is neither here nor read below says nothing about
the text that is wanted (`user`, `metadata`, `store`, …), or would let a caller reach into the
engine (`n_predict`, `id_slot`, …)."""
_SEEDS = 0xFFFFFFFF
"""llama.cpp's seeds are smaller; this one means a new one each time (`LLAMA_DEFAULT_SEED`)."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Asked(Struct, frozen=True):
    """A request as the engine gets it."""

    body: Mapping[str, Any]
    """JSON for llama.cpp's chat route, the grammar aside."""
    grammars: Sequence[str] = ()
    """The first of these that the engine can read holds; none of them: it is not asked."""
    held_by: str = ""
    """The field that the grammars come from."""
    tools: frozenset[str] = frozenset()
    """Names that may be called."""
    must_call: bool = False
    choices: int = 1
    top_logprobs: int | None = None
    """Alternatives to each token that the caller wants to see; None: no probabilities at all."""

    @property
    def is_json(self) -> bool:
        """Whether the whole answer must be JSON, unless it is cut off."""
        return self.held_by == "response_format" and "stop" not in self.body


def asked(call: Call, max_tokens: int) -> Asked:
    """Reads the request. `max_tokens` holds where it names no limit.

    Raises `Refused` with the field that this engine cannot honour.
    """
    said = {k: v for k, v in call.request.body.items() if v is not None}
    _refuse(said)
    offered = _offered(said)
    grammars, held_by = _grammars(said, offered)
    body = {key: said[key] for key in SAMPLED if key in said} | {
        "messages": turns(said.get("messages")),
        "max_tokens": call.request.max_tokens or max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a sign of life for each batch: there the work can be stopped
    }
    if offered:  # the template tells of them; llama.cpp's own reading of calls stays out of it
        body |= {"tools": said["tools"], "tool_choice": "none"}
    if stop := _stop(said.get("stop")):
        body["stop"] = stop
    if "seed" in said:
        body["seed"] = said["seed"] % _SEEDS
    shown = said.get("top_logprobs", 0) if said.get("logprobs") else None
    if call.want_logprobs or shown is not None:
        body["n_probs"] = max(1, shown or 0)  # for none it would leave out the token's own as well
    if grammars:  # nothing can be thought where every word must be JSON
        given = said.get("chat_template_kwargs") or {}
        body["chat_template_kwargs"] = {"enable_thinking": False} | given
    return Asked(
        body,
        grammars,
        held_by,
        frozenset(tool["name"] for tool in offered),
        said.get("tool_choice", "auto") != "auto",
        said.get("n", 1),
        shown,
    )


def _of(*meant: Any) -> Callable[[Any], bool]:
    return lambda value: value in meant


def _are_biases(value: Any) -> bool:
    """The engine passes over what is not a token's number with a number."""
    return isinstance(value, dict) and all(
        str(token).isdecimal() and isinstance(bias, int | float) for token, bias in value.items()
    )


_HARMLESS: Mapping[str, Callable[[Any], bool]] = {
    "functions": lambda value: not value,
    "function_call": _of("none", "auto"),
    "web_search_options": _of(),
    "audio": _of(),
    "modalities": lambda value: "audio" not in value,
    "reasoning_effort": _of("none", "minimal"),
    "verbosity": _of("medium"),
    "logit_bias": _are_biases,
}
"""Fields of OpenAI's that would change the answer, and the values that ask for nothing special."""


def _refuse(said: Mapping[str, Any]) -> None:
    for name, is_harmless in _HARMLESS.items():
        if name in said and not is_harmless(said[name]):
            way_out = "; send `tools` instead" if name.startswith("function") else ""
            raise Refused(name, f"asks for something that this model cannot do{way_out}")


def _stop(stop: Any) -> Any:
    """Without empty strings, at which the engine would stop before the first word."""
    stops = [stop] if isinstance(stop, str) else stop
    return [one for one in stops if one] if isinstance(stops, list) else stops


def _offered(said: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The functions that may be called, as `tool_choice` has it."""
    functions = [_function(tool, i) for i, tool in enumerate(said.get("tools") or ())]
    choice = said.get("tool_choice", "auto" if functions else "none")
    if choice == "none":
        return ()
    if not functions:
        raise Refused("tool_choice", "is only of use together with `tools`", code="invalid_value")
    if choice in ("auto", "required"):
        return functions
    name = _named(choice)
    named = [function for function in functions if function["name"] == name]
    if not named:
        raise Refused("tool_choice", "names none of the `tools`", code="invalid_value")
    return named


def _function(tool: Any, index: int) -> Mapping[str, Any]:
    where = f"tools[{index}]"
    kind = tool.get("type", "function") if isinstance(tool, dict) else None
    if kind != "function":
        raise Refused(f"{where}.type", "must be `function`: this model knows no other tools")
    function: Any = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        what = "must be a name of 1 to 64 letters, digits, `_`, `-` or `.`"
        raise Refused(f"{where}.function.name", what, code="invalid_value")
    if not isinstance(function.get("parameters") or {}, dict):
        what = "must be a JSON schema"
        raise Refused(f"{where}.function.parameters", what, code="invalid_value")
    return cast("Mapping[str, Any]", function)


def _named(choice: Any) -> str:
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str):
        what = "must be `auto`, `none`, `required` or one function's name"
        raise Refused("tool_choice", what, code="invalid_value")
    return name


def _grammars(
    said: Mapping[str, Any], offered: Sequence[Mapping[str, Any]]
) -> tuple[Sequence[str], str]:
    """What the answer is held to, from the best to what will do, and the field behind it."""
    schema = _schema(said.get("response_format"))
    if "grammar" in said:
        return _own_grammar(said["grammar"], alone=schema is None and not offered), "grammar"
    if not offered:
        if schema is None:
            return (), ""
        return (grammar.for_schema(schema),), "response_format"
    choice = said.get("tool_choice", "auto")
    several = said.get("parallel_tool_calls", True)
    exact, loose = (
        grammar.for_tools(
            offered,
            must_call=choice != "auto",
            several=several,
            schema=schema,
            loose=loose,
        )
        for loose in (False, True)
    )
    strict = any(function.get("strict") for function in offered)
    return ((exact,) if strict else (exact, loose)), "tools"


def _own_grammar(given: Any, *, alone: bool) -> Sequence[str]:
    if not isinstance(given, str):
        raise Refused("grammar", "must be a string", code="invalid_value")
    if not alone:
        raise Refused("grammar", "cannot be had together with `response_format` or `tools`")
    if not grammar.is_safe(given):
        raise Refused("grammar", "repeats something too often", code="invalid_value")
    return (given,)


def _schema(wanted: Any) -> Mapping[str, Any] | None:
    """The schema of `response_format`; None where any text will do."""
    kind = wanted.get("type") if isinstance(wanted, dict) else "text"
    if kind == "text":
        return None
    if kind == "json_object":
        given = wanted.get("schema")  # as llama.cpp's own server takes it
        return given if isinstance(given, dict) else {"type": "object"}
    described = wanted.get("json_schema")
    schema = described.get("schema", {}) if isinstance(described, dict) else None
    if kind != "json_schema" or not isinstance(schema, dict):
        what = "must hold a JSON schema, which is an object"
        raise Refused("response_format.json_schema.schema", what, code="invalid_value")
    return schema
