"""The two requests that are sent, and the canned answers that come back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANSWER = (
    "The gateway in the middle added very little , since all that it had to do was to pass "
    "these words on , one after the other , as they came ."
)
"""What the model upstream always says: 32 tokens, one per streamed event."""
WORDS = ANSWER.split()

_FIXED = {"id": "chatcmpl-canned", "created": 1_700_000_000}
_USAGE = {"prompt_tokens": 42, "completion_tokens": len(WORDS), "total_tokens": 42 + len(WORDS)}


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of request to a named model."""

    name: str
    """`whole` or `stream`; also the path under which the upstream serves it."""
    model: str
    """The model's name, for the client and at the upstream alike."""
    title: str
    request: bytes
    answer: bytes
    """What the upstream sends."""
    ending: str
    """Text that only a complete answer holds; looked for in every answer of the run."""

    def said(self, body: bytes) -> str:
        """The text of a gateway's answer, whatever else the gateway put beside it."""
        if self.name == "whole":
            text: str = json.loads(body)["choices"][0]["message"]["content"]
            return text
        lines = [
            line[5:].strip() for line in body.decode().splitlines() if line.startswith("data:")
        ]
        if lines[-1] != "[DONE]":
            raise ValueError("the stream did not end with [DONE]")
        return "".join(_deltas(lines[:-1]))


def _deltas(lines: list[str]) -> list[str]:
    choices = [choice for line in lines for choice in json.loads(line).get("choices", [])]
    return [choice["delta"].get("content") or "" for choice in choices]


def workloads() -> tuple[Workload, Workload]:
    """The whole answer and the streamed one."""
    whole = Workload(
        "whole", "canned", "one JSON answer", _request("canned"), _whole("canned"), "they came ."
    )
    stream = Workload(
        "stream",
        "canned-stream",
        f"a stream of {len(WORDS) + 2} events that arrive together",
        _request("canned-stream", stream=True),
        _stream("canned-stream"),
        "data: [DONE]",
    )
    return whole, stream


def _request(model: str, **more: Any) -> bytes:
    question = "How much time does a gateway add to a request, and where does it spend it?"
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": question},
    ]
    body = {"model": model, "messages": messages, "max_tokens": 128, "temperature": 0.7, **more}
    return _compact(body)


def _whole(model: str) -> bytes:
    message = {"role": "assistant", "content": ANSWER}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    body = {**_FIXED, "object": "chat.completion", "model": model, "choices": [choice]}
    return _compact({**body, "usage": _USAGE})


def _stream(model: str) -> bytes:
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word if place == 0 else f" {word}"} for place, word in enumerate(WORDS)]
    events = [_event(model, delta, None) for delta in deltas] + [_event(model, {}, "stop")]
    return b"".join(b"data: " + event + b"\n\n" for event in [*events, b"[DONE]"])


def _event(model: str, delta: dict[str, str], finish_reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    body = {**_FIXED, "object": "chat.completion.chunk", "model": model, "choices": [choice]}
    return _compact(body)


def _compact(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def lay(folder: Path) -> None:
    """Write requests and answers as files: for the upstream, and for the load generator."""
    for workload in workloads():
        served = folder / "www" / workload.name / "v1" / "chat"
        served.mkdir(parents=True, exist_ok=True)
        (served / "completions").write_bytes(workload.answer)
        (folder / f"{workload.name}.json").write_bytes(workload.request)
