"""One question and one reading of the answer, in every vocabulary that clients speak here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from hybridge.testing.http import Got

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
RESPONSES, TEXTS = "/v1/responses", "/v1/completions"
WITH_TOOLS = (CHAT, MESSAGES, RESPONSES)
ALL = (*WITH_TOOLS, TEXTS)
EVERY_SHAPE = pytest.mark.parametrize("path", ALL)
SHAPES_WITH_TOOLS = pytest.mark.parametrize("path", WITH_TOOLS)
Body = dict[str, Any]
Call = tuple[str, str, str]
"""Id, name and arguments of a tool call."""

_ENDINGS = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


@dataclass(slots=True)
class Told:
    """What an answer says, whatever its shape."""

    text: str = ""
    ending: str | None = None
    """In the words of the chat vocabulary; None while it did not say that it is complete."""
    calls: list[Call] = field(default_factory=list)
    usages: list[Any] = field(default_factory=list)
    errors: list[Body] = field(default_factory=list)
    """Error objects among a stream's events."""
    done: bool = False
    """Whether the mark of a good end came."""


def asking(path: str, text: str = "Hello!", *, stream: bool = False, **members: Any) -> Body:
    """A question; `model` is `auto` unless `members` say otherwise."""
    body: Body = {"model": "auto"}
    match path:
        case "/v1/messages":
            body |= {"max_tokens": 900, "messages": [{"role": "user", "content": text}]}
        case "/v1/responses":
            body |= {"input": text}
        case "/v1/completions":
            body |= {"prompt": text}
        case _:
            body |= {"messages": [{"role": "user", "content": text}]}
    return body | ({"stream": True} if stream else {}) | members


def tools_of(path: str, *names: str) -> list[Body]:
    """Tools of these names, each with parameters that allow anything."""
    schema = {"type": "object", "properties": {}}
    match path:
        case "/v1/messages":
            return [{"name": name, "input_schema": schema} for name in names]
        case "/v1/responses":
            return [{"type": "function", "name": name, "parameters": schema} for name in names]
    functions = [{"name": name, "parameters": schema} for name in names]
    return [{"type": "function", "function": function} for function in functions]


def events_of(body: bytes) -> list[Any]:
    """The data of each event, decoded, `[DONE]` as it is; every line is looked at."""
    *blocks, rest = body.decode().split("\n\n")
    assert rest == "", f"a stream that ends amid an event: {rest!r}"
    found = []
    for block in blocks:
        if block.startswith(":"):
            continue
        *named, data = block.split("\n")
        assert data.startswith("data: "), block
        told = data.removeprefix("data: ")
        found.append(told if told == "[DONE]" else json.loads(told))
        assert named == ([f"event: {found[-1]['type']}"] if named else []), block
    return found


def told(path: str, got: Got) -> Told:
    """Reads an answer, whole or as a stream."""
    if got.headers["content-type"].startswith("text/event-stream"):
        return _STREAMS[path](events_of(got.body))
    return _WHOLES[path](got.json)


def _chat_whole(body: Body) -> Told:
    choice = body["choices"][0]
    message = choice["message"]
    calls = _functions(message.get("tool_calls") or ())
    return Told(message.get("content") or "", choice["finish_reason"], calls, [body.get("usage")])


def _functions(calls: Iterable[Body]) -> list[Call]:
    return [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls]


def _chat_stream(events: Sequence[Any]) -> Told:
    found, calls = Told(), dict[int, list[str]]()
    for event in _until_done(events, found):
        if event.get("usage") is not None:
            found.usages.append(event["usage"])
        for choice in event.get("choices", ()):
            delta = choice["delta"]
            found.text += delta.get("content") or ""
            found.ending = choice["finish_reason"] or found.ending
            for piece in delta.get("tool_calls") or ():
                call = calls.setdefault(piece["index"], ["", "", ""])
                function = piece.get("function") or {}
                call[0] += piece.get("id") or ""
                call[1] += function.get("name") or ""
                call[2] += function.get("arguments") or ""
    assert list(calls) == list(range(len(calls)))
    found.calls = [(id_, name, arguments) for id_, name, arguments in calls.values()]
    return found


def _texts_whole(body: Body) -> Told:
    choice = body["choices"][0]
    return Told(choice["text"], choice["finish_reason"], usages=[body.get("usage")])


def _texts_stream(events: Sequence[Any]) -> Told:
    found = Told()
    for event in _until_done(events, found):
        if event.get("usage") is not None:
            found.usages.append(event["usage"])
        for choice in event.get("choices", ()):
            found.text += choice["text"]
            found.ending = choice["finish_reason"] or found.ending
    return found


def _until_done(events: Sequence[Any], found: Told) -> Iterator[Body]:
    """The events but for errors; nothing may follow a failure or `[DONE]`."""
    for event in events:
        assert not found.done, "something came after [DONE]"
        assert not found.errors, "something came after the error"
        if event == "[DONE]":
            found.done = True
        elif "error" in event:
            found.errors.append(event["error"])
        else:
            yield event


def _messages_whole(body: Body) -> Told:
    found = Told(ending=_ended(body["stop_reason"]), usages=[body["usage"]])
    for block in body["content"]:
        if block["type"] == "text":
            found.text += block["text"]
        elif block["type"] == "tool_use":
            found.calls.append((block["id"], block["name"], json.dumps(block["input"])))
    return found


def _ended(reason: str | None) -> str | None:
    return None if reason is None else _ENDINGS.get(reason, reason)


def _messages_stream(events: Sequence[Any]) -> Told:
    found, blocks = Told(), list[Body]()
    for event in events:
        assert not found.done, "something came after message_stop"
        assert not found.errors, "something came after the error"
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append({**event["content_block"], "json": ""})
            case "content_block_delta":
                assert event["index"] == len(blocks) - 1
                found.text += event["delta"].get("text", "")
                blocks[-1]["json"] += event["delta"].get("partial_json", "")
            case "message_delta":
                found.ending = _ended(event["delta"]["stop_reason"])
                found.usages.append(event["usage"])
            case "message_stop":
                found.done = True
            case "error":
                found.errors.append(event["error"])
    used = (block for block in blocks if block["type"] == "tool_use")
    found.calls = [(block["id"], block["name"], block["json"] or "{}") for block in used]
    return found


def _responses_whole(body: Body) -> Told:
    found = Told(usages=[body["usage"]])
    for item in body["output"]:
        if item["type"] == "message":
            found.text += "".join(part.get("text", "") for part in item["content"])
        elif item["type"] == "function_call":
            found.calls.append((item["call_id"], item["name"], item["arguments"]))
    if body["status"] == "incomplete":
        assert body["incomplete_details"]["reason"] == "max_output_tokens"
        found.ending = "length"
    elif body["status"] == "completed":
        found.ending = "tool_calls" if found.calls else "stop"
    return found


def _responses_stream(events: Sequence[Any]) -> Told:
    found, text, arguments = Told(), "", dict[int, str]()
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    for event in events:
        assert not found.done, "something came after the end"
        match event["type"]:
            case "response.output_text.delta":
                text += event["delta"]
            case "response.function_call_arguments.delta":
                place = event["output_index"]
                arguments[place] = arguments.get(place, "") + event["delta"]
            case "response.completed" | "response.incomplete":
                found = _responses_whole(event["response"])
                found.done = True
                assert found.text == text
                in_order = [arguments[place] for place in sorted(arguments)]
                assert [given for *_, given in found.calls] == in_order
            case "response.failed":
                found = Told(text, errors=[event["error"]], done=True)
                assert event["response"]["status"] == "failed"
    return found


_WHOLES = {
    CHAT: _chat_whole,
    MESSAGES: _messages_whole,
    RESPONSES: _responses_whole,
    TEXTS: _texts_whole,
}
_STREAMS = {
    CHAT: _chat_stream,
    MESSAGES: _messages_stream,
    RESPONSES: _responses_stream,
    TEXTS: _texts_stream,
}
