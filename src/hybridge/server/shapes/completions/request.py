"""A text completion's request told as the chat vocabulary tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.server.shapes.chat.fields import FIELDS as CHAT
from hybridge.server.shapes.faults import UNKNOWN, check_stream_options, unsupported
from hybridge.server.shapes.forms import (
    COUNT,
    FLAG,
    TEXT,
    Form,
    check,
    is_text,
    whole,
    wrong,
)


def _is_one_text(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and is_text(value[0])


PROMPT = Form(
    lambda value: is_text(value) or _is_one_text(value),
    "a string or an array of one string",
    {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
)
_SAME = (
    "model", "max_tokens", "temperature", "top_p", "n", "stop", "seed", "stream",
    "presence_penalty", "frequency_penalty", "logit_bias", "user",
)  # fmt: skip
"""Fields that both vocabularies have."""
FIELDS: Mapping[str, Form] = {
    "prompt": PROMPT,
    **{name: CHAT[name] for name in (*_SAME, "stream_options")},
    "logprobs": whole(0, 5),
    "echo": FLAG,
    "suffix": TEXT,
    "best_of": COUNT,
}
"""By name (source: OpenAI's completions reference)."""


NAMES: Mapping[str, str] = {
    "messages": "prompt",
    "max_completion_tokens": "max_tokens",
    "top_logprobs": "logprobs",
}
"""What backends call a field, and what it is called here."""


def as_chat(said: dict[str, Any]) -> dict[str, Any]:
    """The chat request's body. Raises `RequestError` that names the field at fault."""
    for name, value in said.items():
        if value is not None and name not in FIELDS:
            raise unsupported(
                name,
                "is not a field of a text completion; /v1/chat/completions passes any field on",
                UNKNOWN,
            )
    prompt = prompt_of(said)
    check(said, FIELDS)
    _check_together(said)
    told = {name: said[name] for name in _SAME if said.get(name) is not None}
    told["messages"] = [{"role": "user", "content": prompt}]
    if said.get("logprobs") is not None:
        told |= {"logprobs": True, "top_logprobs": said["logprobs"]}
    if said.get("stream"):
        told["stream_options"] = {"include_usage": True}
    return told


def prompt_of(said: Mapping[str, Any]) -> str:
    """The one text of `prompt`. Raises `RequestError`."""
    prompt = said.get("prompt")
    if isinstance(prompt, list) and len(prompt) > 1 and all(map(is_text, prompt)):
        raise unsupported("prompt", "must be one text: send a request for each of several")
    if isinstance(prompt, list) and prompt and not is_text(prompt[0]):
        raise unsupported("prompt", "must be text: tokens are each model's own, and not taken here")
    if not PROMPT.fits(prompt):
        raise wrong("prompt", PROMPT.said, prompt)
    return prompt if isinstance(prompt, str) else str(prompt[0])  # type: ignore[index]


def _check_together(said: Mapping[str, Any]) -> None:
    """What no field shows alone. Raises `RequestError`."""
    if said.get("suffix"):
        raise unsupported(
            "suffix", "is not supported: models that chat do not fill in between texts"
        )
    if said.get("best_of") is not None and said["best_of"] != (said.get("n") or 1):
        raise unsupported("best_of", "must equal `n`: every answer that is made is given")
    if said.get("echo") and said.get("logprobs") is not None:
        raise unsupported("echo", "cannot be given with `logprobs`: a prompt's are not known here")
    check_stream_options(said)
