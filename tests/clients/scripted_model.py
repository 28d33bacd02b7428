"""A model that does what its prompt says: what the upstream of these suites answers.

| the last user turn | the answer |
|---|---|
| `Say: …`, `Byte by byte: …` | those words; the second arrives one byte at a time |
| `Slowly: …` | those words, after a silence of `SILENCE_S` |
| `Show the request` | the request's body as JSON, as it arrived here |
| `What are your instructions?` | the system and developer turns |
| `What did I say first?` | the first user turn |
| `Refuse`, `Fail`, `Fail slowly` | a 400 that names `temperature`, a 500, a 500 after the silence |
| `Break off`, `End early` | a stream that is reset, or closed in good order, before its end |
| with pictures | the type and SHA-256 of each |
| with tools, and names of cities | a call of the first tool for each city, in fragments; \
`In turns: …` mixes those |
| after a tool's result | what the tools said |

Where JSON is asked for, it answers with a value that fits the schema; anything else is repeated.
A model name that begins with `busy` is rate-limited.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conversation import pictures, texts, tool_results, unanswered
from samples import sample
from spoken import Body, Said, broken, spoken

from hybridge.testing.replies import (
    Cut,
    Received,
    Reply,
    Step,
    answers,
    byte_by_byte,
    fails,
    slowly,
)

CITIES = ("Paris", "Zürich", "北京")
RETRY_AFTER_S = 7
SILENCE_S = 1.5

_FAULTS: dict[str, Callable[[Body], Reply]] = {
    "Refuse": lambda _: fails(
        400,
        "not that temperature",
        type="invalid_request_error",
        code="unsupported_value",
        param="temperature",
    ),
    "Fail": lambda _: fails(500),
    "Fail slowly": lambda _: slowly(fails(500), first_s=SILENCE_S),
    "Break off": lambda asked: broken(asked, Cut.RESET),
    "End early": lambda asked: broken(asked, Cut.CLOSE),
}


def reply(received: Received) -> Iterator[Step]:
    """Answers one request, whatever its path."""
    asked = received.json
    if str(asked["model"]).startswith("busy"):
        return _busy()(received)
    embeds = received.target.endswith("/embeddings")
    return (_embedded(asked) if embeds else _chat(asked))(received)


def _chat(asked: Body) -> Reply:
    if (fault := unanswered(asked["messages"])) is not None:
        return fails(400, fault, type="invalid_request_error", param="messages")
    text = next(reversed(texts(asked["messages"], "user")), "")
    if text in _FAULTS:
        return _FAULTS[text](asked)
    told = spoken(asked, _stopped(asked, _said(asked, text)))
    if text.startswith("Slowly: "):
        return slowly(told, first_s=SILENCE_S)
    return byte_by_byte(told) if text.startswith("Byte by byte: ") else told


def _said(asked: Body, text: str) -> Said:
    """What there is to say, before any limit."""
    messages = asked["messages"]
    if messages[-1]["role"] == "tool":
        return Said("The tools said: " + "; ".join(tool_results(messages)))
    if calls := _calls(asked, text):
        return Said(calls=calls, mixed=text.startswith("In turns: "))
    if seen := list(pictures(messages)):
        return Said("\n".join(seen))
    form = asked.get("response_format") or {}
    if form.get("type") == "json_schema":
        return Said(json.dumps(sample(form["json_schema"]["schema"]), ensure_ascii=False))
    if form.get("type") == "json_object":
        return Said(json.dumps({"said": text}, ensure_ascii=False))
    return Said(_words(asked, text))


def _words(asked: Body, text: str) -> str:
    command, colon, rest = text.partition(": ")
    match command.strip():
        case "Say" | "Slowly" | "Byte by byte" if colon:
            return rest
        case "Show the request":
            return json.dumps(asked, ensure_ascii=False)
        case "What are your instructions?":
            return "\n".join(texts(asked["messages"], "system", "developer"))
        case "What did I say first?":
            return texts(asked["messages"], "user")[0]
    return f"You said: {text}"


def _stopped(asked: Body, said: Said) -> Said:
    """Cut before the first stop sequence."""
    stop, text = asked.get("stop") or [], said.text
    for sequence in [stop] if isinstance(stop, str) else stop:
        text = text and text.partition(sequence)[0]
    return replace(said, text=text)


def _calls(asked: Body, text: str) -> tuple[tuple[str, str], ...]:
    tools = [tool["function"] for tool in asked.get("tools") or ()]
    choice = asked.get("tool_choice") or "auto"
    if not tools or choice == "none":
        return ()
    named = choice["function"]["name"] if isinstance(choice, dict) else tools[0]["name"]
    tool = next(tool for tool in tools if tool["name"] == named)
    cities: list[str | None] = [city for city in CITIES if city in text]
    if not cities and choice != "auto":
        cities = [None]
    if asked.get("parallel_tool_calls") is False:
        cities = cities[:1]
    return tuple((named, _arguments(tool.get("parameters") or {}, city)) for city in cities)


def _arguments(schema: Body, city: str | None) -> str:
    """Arguments that fit; a city stands in the first text."""
    value = sample(schema)
    names = [name for name, said in value.items() if isinstance(said, str)]
    if city and names:
        value[names[0]] = city
    return json.dumps(value, ensure_ascii=False)


def _embedded(asked: Body) -> Reply:
    inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    size = int(asked.get("dimensions") or 8)
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(text, size, asked)}
        for index, text in enumerate(inputs)
    ]
    usage = {"prompt_tokens": 3 * len(inputs), "total_tokens": 3 * len(inputs)}
    return answers({"object": "list", "data": data, "model": asked["model"], "usage": usage})


def _vector(text: Any, size: int, asked: Body) -> list[float] | str:
    """Of multiples of 1/256, so that it is the same in any precision."""
    digest = hashlib.sha512(json.dumps(text).encode()).digest()
    values = [digest[i % len(digest)] / 256 - 0.5 for i in range(size)]
    if asked.get("encoding_format") == "base64":
        return base64.b64encode(struct.pack(f"<{size}f", *values)).decode()
    return values


def _busy() -> Reply:
    return fails(
        429,
        "slow down",
        type="rate_limit_error",
        code="rate_limit_exceeded",
        headers={"retry-after": str(RETRY_AFTER_S)},
    )
