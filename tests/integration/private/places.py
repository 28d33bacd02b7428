"""Every place of a request where somebody may write something, in each of the five shapes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

Body = dict[str, Any]
Place = Callable[[str], Body]
"""The body of a request that holds a text there."""

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
MESSAGES, RESPONSES, EMBEDDINGS = "/v1/messages", "/v1/responses", "/v1/embeddings"
HELLO = {"role": "user", "content": "Please prove it step by step, then summarise."}


def _chat(*turns: Body, **more: Any) -> Body:
    return {"messages": [*turns, HELLO], **more}


def _called(arguments: str) -> Body:
    function = {"name": "find", "arguments": arguments}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _tool(**function: Any) -> Body:
    return {"tools": [{"type": "function", "function": {"name": "find", **function}}]}


def _parameters(**schema: Any) -> Body:
    return {"type": "object", "properties": {"who": {"type": "string", **schema}}}


def _part(**part: Any) -> Body:
    return _chat({"role": "user", "content": [part]})


def _file(text: str) -> str:
    return f"data:text/plain;base64,{base64.b64encode(text.encode()).decode()}"


_RESULT = {"role": "tool", "tool_call_id": "call_1"}
_CHAT: Mapping[str, Place] = {
    "user": lambda v: _chat({"role": "user", "content": f"about {v} now"}),
    "part": lambda v: _part(type="text", text=v),
    "system": lambda v: _chat({"role": "system", "content": f"客户是{v}。"}),
    "developer": lambda v: _chat({"role": "developer", "content": v}),
    "assistant": lambda v: _chat(HELLO, {"role": "assistant", "content": v}),
    "arguments": lambda v: _chat(_called(json.dumps({"who": v})), _RESULT | {"content": "ok"}),
    "arguments in unicode": lambda v: _chat(
        _called(json.dumps({"谁": v}, ensure_ascii=True)), _RESULT | {"content": "ok"}
    ),
    "result": lambda v: _chat(_called("{}"), _RESULT | {"content": json.dumps({"who": v})}),
    "name": lambda v: _chat({"role": "user", "name": v, "content": "hi"}),
    "tool": lambda v: _chat(**_tool(description=f"e.g. {v}", parameters=_parameters())),
    "parameter": lambda v: _chat(**_tool(parameters=_parameters(description=v))),
    "default": lambda v: _chat(**_tool(parameters=_parameters(default=v))),
    "choice": lambda v: _chat(**_tool(parameters=_parameters(enum=[v, "other"]))),
    "metadata": lambda v: _chat(metadata={"customer": v}),
    "metadata key": lambda v: _chat(metadata={v: "customer"}),
    "caller": lambda v: _chat(user=v),
    "identifier": lambda v: _chat(safety_identifier=v),
    "stop": lambda v: _chat(stop=[v]),
    "prediction": lambda v: _chat(prediction={"type": "content", "content": v}),
    "schema": lambda v: _chat(
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": _parameters(description=v)},
        }
    ),
    "extension": lambda v: _chat(some_extension={"deep": [[{"er": v}]]}),
    "picture": lambda v: _part(
        type="image_url", image_url={"url": f"http://127.0.0.1:9/a.png?who={v.strip()}"}
    ),
    "file name": lambda v: _part(type="file", file={"filename": f"{v}.pdf", "file_id": "f"}),
    "file": lambda v: _part(type="file", file={"filename": "a.txt", "file_data": _file(v)}),
    "encoded": lambda v: _chat(
        {"role": "user", "content": f"read {base64.b64encode(v.encode()).decode()} please"}
    ),
}


def _messages(content: Any, **more: Any) -> Body:
    return {"max_tokens": 64, "messages": [{"role": "user", "content": content}], **more}


def _tool_use(v: Any) -> Body:
    use = {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"who": v}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    turns = [HELLO, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"max_tokens": 64, "messages": turns}


_MESSAGES: Mapping[str, Place] = {
    "user": lambda v: _messages(f"about {v}"),
    "block": lambda v: _messages([{"type": "text", "text": v}]),
    "system": lambda v: _messages("hi", system=v),
    "system block": lambda v: _messages("hi", system=[{"type": "text", "text": v}]),
    "input": _tool_use,
    "tool": lambda v: _messages(
        "hi", tools=[{"name": "find", "description": v, "input_schema": _parameters()}]
    ),
    "user id": lambda v: _messages("hi", metadata={"user_id": v}),
}
_RESPONSES: Mapping[str, Place] = {
    "input": lambda v: {"input": f"about {v}"},
    "item": lambda v: {"input": [{"role": "user", "content": [{"type": "input_text", "text": v}]}]},
    "instructions": lambda v: {"input": "hi", "instructions": v},
    "metadata": lambda v: {"input": "hi", "metadata": {"customer": v}},
    "output": lambda v: {
        "input": [
            {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": v},
        ]
    },
}
PLACES: Mapping[str, Mapping[str, Place]] = {
    CHAT: _CHAT,
    COMPLETIONS: {
        "prompt": lambda v: {"prompt": v},
        "prompts": lambda v: {"prompt": ["hi", v]},
        "suffix": lambda v: {"prompt": "hi", "suffix": v},
    },
    MESSAGES: _MESSAGES,
    RESPONSES: _RESPONSES,
    EMBEDDINGS: {
        "input": lambda v: {"input": v},
        "inputs": lambda v: {"input": ["hello", v]},
    },
}
