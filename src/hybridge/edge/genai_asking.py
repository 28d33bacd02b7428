"""A request as a worker of `ortgenai` gets it: typed, so that what is wrong is said before."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from hybridge.edge.asking import Asked
from hybridge.edge.genai_wire import Ask
from hybridge.edge.llama_server import TEMPERATURE, TOP_P
from hybridge.edge.refused import Refused

_GRAMMAR = "%llguidance"
"""How the grammars begin that this engine can read."""


class _Sampling(Struct, frozen=True):
    """The members of a request that say how tokens are chosen; the defaults are llama.cpp's."""

    max_tokens: int
    temperature: float = TEMPERATURE
    top_k: int = 40
    top_p: float = TOP_P
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = {}
    seed: int | None = None
    stop: tuple[str, ...] = ()
    n_probs: int | None = None


class _Turn(Struct):
    role: str
    content: str


def ask(number: int, asked: Asked) -> Ask:
    """Raises `Refused` with the field that cannot be taken."""
    body = asked.body
    if body.get("chat_template_kwargs") not in (None, {"enable_thinking": False}):
        raise Refused("chat_template_kwargs", "cannot be given to this model's chat template")
    if any(not grammar.startswith(_GRAMMAR) for grammar in asked.grammars):
        what = f"must be in llguidance's language for this model, and begin with {_GRAMMAR}"
        raise Refused("grammar", what, code="unsupported_value")
    sampling = _sampling(body)
    return Ask(
        number=number,
        messages=_messages(body.get("messages")),
        tools=msgspec.json.encode(body["tools"]).decode() if "tools" in body else None,
        max_tokens=sampling.max_tokens,
        temperature=max(0.0, sampling.temperature),
        top_k=max(0, sampling.top_k),
        top_p=sampling.top_p,
        min_p=sampling.min_p,
        repeat_penalty=sampling.repeat_penalty,
        presence_penalty=sampling.presence_penalty,
        frequency_penalty=sampling.frequency_penalty,
        logit_bias=sampling.logit_bias,
        seed=sampling.seed,
        stop=sampling.stop,
        logprobs=sampling.n_probs,
        grammars=tuple(asked.grammars),
        held_by=asked.held_by,
        choices=asked.choices,
    )


def _sampling(body: Any) -> _Sampling:
    try:
        return msgspec.convert(body, _Sampling, strict=True, str_keys=True)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise Refused(where.rstrip("`"), f"is wrong: {what}", code="invalid_value") from error


def _messages(messages: Any) -> str:
    """JSON for the chat template, which would write `None` or `null` for what is missing."""
    try:
        msgspec.convert(messages, list[_Turn])
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        place = f"messages{where.rstrip('`')}"
        raise Refused(place, f"is wrong: {what}", code="invalid_value") from error
    return msgspec.json.encode(messages).decode()
