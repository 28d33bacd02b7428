"""Items told as chat messages.

The chat vocabulary wants the calls of one turn in one message of the assistant's, and their outputs
straight after it. Thoughts of earlier turns are passed over: it has no place for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.shapes.responses.fields import invalid
from hybridge.server.shapes.responses.items import Item, Placed
from hybridge.server.shapes.responses.parts import as_content, is_textual

Told = dict[str, Any]
_NEXT = "The output is in the next message."
"""What a tool says whose output is nothing but pictures."""


def as_messages(
    instructions: str | None, history: Iterable[Item], items: Iterable[Placed]
) -> list[Told]:
    """All that the model gets to read. `history` is what earlier turns of the chain said.

    Raises `RequestError` for an output that belongs to no call, and for a call without an output.
    """
    conversation = _Conversation(instructions)
    for item in history:
        conversation.add(item, "")
    for where, item in items:
        conversation.add(item, where)
    return conversation.closed()


class _Conversation:
    """Takes items one by one."""

    def __init__(self, instructions: str | None) -> None:
        self._told: list[Told] = []
        if instructions:
            self._told.append({"role": "system", "content": instructions})
        self._turn: Told | None = None
        """The assistant's message that further calls belong to."""
        self._open: dict[str, int] = {}
        """How many calls of each id in it have no output yet."""
        self._later: list[Told] = []
        """What was said between a call and its output."""

    def add(self, item: Item, where: str) -> None:
        """`where` is the item's place in the request."""
        match item["type"]:
            case "function_call":
                self._call(item)
            case "function_call_output":
                self._output(item, where)
            case "message":
                self._message(item)

    def closed(self) -> list[Told]:
        """The messages, once all items were taken."""
        if self._open:
            raise RequestError(
                f"{sum(self._open.values())} function call(s) have no output: add a "
                "function_call_output for each `call_id`",
                param="input",
                code="missing_tool_output",
            )
        if not self._told:
            raise invalid("input", "must hold something that a model can read")
        return self._told

    def _message(self, item: Item) -> None:
        told = {"role": item["role"], "content": as_content(item["content"])}
        if self._turn is not None and self._open and item["role"] == "assistant":
            self._turn["content"] = _joined(self._turn["content"], told["content"])
        elif self._open:
            self._later.append(told)
        else:
            self._told.append(told)
            self._turn = told if item["role"] == "assistant" else None

    def _call(self, item: Item) -> None:
        if self._turn is None:
            self._turn = {"role": "assistant", "content": None}
            self._told.append(self._turn)
        function = {"name": item["name"], "arguments": item["arguments"]}
        call = {"id": item["call_id"], "type": "function", "function": function}
        self._turn.setdefault("tool_calls", []).append(call)
        self._open[item["call_id"]] = self._open.get(item["call_id"], 0) + 1

    def _output(self, item: Item, where: str) -> None:
        waiting = self._open.pop(item["call_id"], 0)
        if not waiting:
            raise invalid(
                f"{where}.call_id", "belongs to no function call that waits for an output"
            )
        if waiting > 1:
            self._open[item["call_id"]] = waiting - 1
        text, shown = _result(item)
        self._told.append({"role": "tool", "tool_call_id": item["call_id"], "content": text})
        self._later[:0] = shown
        if not self._open:
            self._turn = None
            self._told += self._later
            self._later = []


def _result(item: Item) -> tuple[str, list[Told]]:
    """A tool's text, and the message that shows what only a user's can hold: pictures and files."""
    output = item["output"]
    if isinstance(output, str):
        return output, []
    text = "\n".join(part["text"] for part in output if is_textual(part))
    shown = [part for part in output if not is_textual(part)]
    if not shown:
        return text, []
    title = {"type": "input_text", "text": f"Output of the tool call {item['call_id']}:"}
    return text or _NEXT, [{"role": "user", "content": as_content([title, *shown])}]


def _joined(first: Any, second: Any) -> Any:
    """Two contents of one message."""
    if first is None:
        return second
    return [part for content in (first, second) for part in _parts(content)]


def _parts(content: Any) -> list[Told]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
