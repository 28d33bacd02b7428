"""From a messages request's JSON object to a chat request's."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.shapes.faults import only
from hybridge.server.shapes.forms import check, is_text, wrong
from hybridge.server.shapes.messages.conversation import read_system, read_turns
from hybridge.server.shapes.messages.fields import FIELDS
from hybridge.server.shapes.messages.output import read_format
from hybridge.server.shapes.messages.thinking import check_context, read_effort
from hybridge.server.shapes.messages.tools import read_choice, read_tools

_SAME = ("model", "max_tokens", "temperature", "top_p", "top_k")
"""Fields that are called alike in both."""
_LONGEST_USER = 64
"""Characters of an id that OpenAI takes; Anthropic takes 256."""


def translate(said: dict[str, Any]) -> dict[str, Any]:
    """The same request in the chat-completions vocabulary.

    Raises `RequestError` that names the field at fault, by Anthropic's name for it; also for a
    field that would change the answer and means nothing here.
    """
    check(said, FIELDS)
    _check_thread(said.get("thread"))
    only(said, FIELDS)
    check_context(said.get("context_management"))
    tools = read_tools(said.get("tools") or ())
    choice = said.get("tool_choice")
    told = {name: said.get(name) for name in _SAME} | {
        "messages": read_system(said.get("system")) + read_turns(said.get("messages")),
        "stop": said.get("stop_sequences") or None,
        "tools": tools or None,
        "user": _user(said.get("metadata")),
        "reasoning_effort": read_effort(said),
        "response_format": read_format(said),
        **({} if choice is None else read_choice(choice, tools)),
        **(
            {"stream": True, "stream_options": {"include_usage": True}}
            if said.get("stream")
            else {}
        ),
    }
    return {name: value for name, value in told.items() if value is not None}


def _check_thread(thread: Any) -> None:
    """No conversation is held here. By this code their SDK knows to send the whole of it."""
    if thread is not None:
        raise RequestError(
            "`thread` is not supported by this gateway; send the whole conversation without it",
            param="thread",
            code="thread_unsupported_request",
        )


def _user(metadata: Mapping[str, Any] | None) -> str | None:
    """The user's id; a digest of one that is too long for OpenAI, as Claude Code's are."""
    user = metadata.get("user_id") if metadata is not None else None
    if user is not None and not is_text(user):
        raise wrong("metadata.user_id", "a string", user)
    if user is None or len(user) <= _LONGEST_USER:
        return user
    return blake2b(user.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
