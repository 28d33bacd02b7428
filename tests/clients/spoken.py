"""What a model has to say, told as chat completions: whole or streamed, as OpenAI does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from hybridge.testing.replies import END, Cut, Received, Reply, Step, answers, cut, streams

Body = dict[str, Any]
_PIECE = 3
"""Characters of a token, for want of a tokenizer."""


@dataclass(frozen=True, slots=True)
class Said:
    """One choice: text, or calls of tools with their arguments."""

    text: str | None = None
    calls: tuple[tuple[str, str], ...] = ()
    mixed: bool = False
    """Whether the fragments of the calls come in turns."""


def spoken(asked: Body, said: Said) -> Reply:
    """A whole completion or a stream, whichever was asked for; cut where the limit says."""
    pieces = _pieces(said.text)
    kept = pieces[: asked.get("max_completion_tokens") or asked.get("max_tokens")]
    finish = "length" if kept != pieces else "tool_calls" if said.calls else "stop"
    count = int(asked.get("n") or 1)
    usage = {"prompt_tokens": 11, "completion_tokens": count * max(1, len(kept))}
    usage["total_tokens"] = sum(usage.values())
    head = {"id": "chatcmpl-scripted", "created": 1893456000, "model": asked["model"]}
    if asked.get("stream"):
        events = [*_events(asked, said, kept, finish, count)]
        if (asked.get("stream_options") or {}).get("include_usage"):
            events.append({"choices": [], "usage": usage})
        return streams(*({**head, "object": "chat.completion.chunk", **event} for event in events))
    choice = _choice(asked, said, kept, finish)
    choices = [{"index": index, **choice} for index in range(count)]
    return answers({**head, "object": "chat.completion", "choices": choices, "usage": usage})


def broken(asked: Body, how: Cut) -> Reply:
    """The beginning of an answer. A stream that is closed ends in good order, but too early."""
    good = spoken(asked, Said("one two three four"))
    if asked.get("stream"):
        return cut(good, after=3, end=how if how is Cut.RESET else END)

    def half(received: Received) -> Iterator[Step]:
        whole = b"".join(step for step in good(received) if isinstance(step, bytes))
        yield whole[:-40]
        yield how

    return half


def _choice(asked: Body, said: Said, pieces: list[str], finish: str) -> Body:
    message: Body = {"role": "assistant", "content": None if said.calls else "".join(pieces)}
    if said.calls:
        message["tool_calls"] = [_call(i, *call) for i, call in enumerate(said.calls)]
    return {"message": message, "logprobs": _logprobs(asked, pieces), "finish_reason": finish}


def _events(asked: Body, said: Said, pieces: list[str], finish: str, count: int) -> Iterator[Body]:
    """One choice in each, the choices in turns."""
    told: list[Body] = [{"delta": {"role": "assistant", "content": ""}}]
    told += [
        {"delta": {"content": piece}, "logprobs": _logprobs(asked, [piece])} for piece in pieces
    ]
    fragments = _mixed(said.calls) if said.mixed else _one_by_one(said.calls)
    told += [{"delta": {"tool_calls": [fragment]}} for fragment in fragments]
    told.append({"delta": {}, "finish_reason": finish})
    for choice in told:
        for index in range(count):
            yield {"choices": [{"index": index, "finish_reason": None, **choice}]}


def _pieces(text: str | None) -> list[str]:
    text = text or ""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _logprobs(asked: Body, pieces: list[str]) -> Body | None:
    if not asked.get("logprobs"):
        return None
    likely = int(asked.get("top_logprobs") or 0)
    tokens = [{"token": p, "logprob": -0.02, "bytes": list(p.encode())} for p in pieces]
    return {"content": [{**token, "top_logprobs": [token] * likely} for token in tokens]}


def _call(index: int, name: str, arguments: str) -> Body:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{index}_{name}", "type": "function", "function": function}


def _one_by_one(calls: tuple[tuple[str, str], ...]) -> Iterator[Body]:
    """The fragments as OpenAI streams them: a call is whole before the next one begins."""
    for index, (name, arguments) in enumerate(calls):
        yield {"index": index, **_call(index, name, "")}
        for piece in _pieces(arguments):
            yield {"index": index, "function": {"arguments": piece}}


def _mixed(calls: tuple[tuple[str, str], ...]) -> Iterator[Body]:
    """The fragments in turns, so that whoever joins them must look at the index."""
    for index, (name, _) in enumerate(calls):
        yield {"index": index, **_call(index, name, "")}
    several = [
        [(index, piece) for piece in _pieces(arguments)]
        for index, (_, arguments) in enumerate(calls)
    ]
    for turn in zip_longest(*several):
        for index, piece in filter(None, turn):
            yield {"index": index, "function": {"arguments": piece}}
