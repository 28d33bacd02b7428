"""Tool calls: kept apart, ended as such, and taken back in every spelling."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.integration.known_faults.common import BACKENDS, BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    SHAPES_WITH_TOOLS,
    asking,
    told,
    tools_of,
)

from hybridge.testing.http import ask
from hybridge.testing.replies import END, Reply, answers, cut, says, streams

pytestmark = pytest.mark.anyio
CONFIG = {"execution": PATIENT}
HEAD = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
WANTED = [("weather", {"city": "Oslo"}), ("time", {"zone": "+1"}), ("weather", {"city": "北京"})]
NAMES = ("weather", "time")
PARTS = [["", *_] for _ in ([json.dumps(given)[:6], json.dumps(given)[6:]] for _, given in WANTED)]


def chunk(calls: Sequence[Mapping[str, Any]] = (), finish: str | None = None) -> Mapping[str, Any]:
    delta = {"tool_calls": list(calls)} if calls else {}
    return HEAD | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def begun(place: int, index: int | None, id_: str | None, arguments: str = "") -> dict[str, Any]:
    function = {"name": WANTED[place][0], "arguments": arguments}
    told_ = {"index": index, "id": id_, "type": "function", "function": function}
    return {key: value for key, value in told_.items() if value is not None}


def more(index: int, arguments: str) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


def interleaved(id_of: Any) -> list[Mapping[str, Any]]:
    first = [chunk([begun(place, place, id_of(place))]) for place in range(3)]
    rest = [chunk([more(place, PARTS[place][step])]) for step in (1, 2) for place in (2, 0, 1)]
    return [*first, *rest]


def one_after_the_other(index_of: Any, id_of: Any) -> list[Mapping[str, Any]]:
    given = [json.dumps(given) for _, given in WANTED]
    return [chunk([begun(p, index_of(p), id_of(p), given[p])]) for p in range(3)]


def in_fragments(id_of: Any) -> list[Mapping[str, Any]]:
    """Every call has index 0 and comes in several fragments."""
    found = []
    for place in range(3):
        found.append(chunk([begun(place, 0, id_of(place))]))
        found += [chunk([more(0, part)]) for part in PARTS[place][1:]]
    return found


def together(id_of: Any) -> list[Mapping[str, Any]]:
    """All calls begin in one chunk, and go on in one."""
    parts = [chunk([more(p, PARTS[p][step]) for p in range(3)]) for step in (1, 2)]
    return [chunk([begun(p, p, id_of(p)) for p in range(3)]), *parts]


def distinct(place: int) -> str:
    return f"call_{place}"


def nobody(_: int) -> None:
    return None


WAYS: Mapping[str, list[Mapping[str, Any]]] = {
    "interleaved": interleaved(distinct),
    "interleaved, no ids": interleaved(nobody),
    "interleaved, empty ids": interleaved(lambda _: ""),
    "all index 0": one_after_the_other(lambda _: 0, distinct),
    "all index 0, in fragments": in_fragments(distinct),
    "all index 0, in fragments, no ids": in_fragments(nobody),
    "all index 0, no ids": one_after_the_other(lambda _: 0, nobody),
    "no index": one_after_the_other(nobody, distinct),
    "neither": one_after_the_other(nobody, nobody),
    "the same id": one_after_the_other(lambda p: p, lambda _: "call_x"),
    "indexes from 1": one_after_the_other(lambda p: p + 1, distinct),
    "together": together(distinct),
}


@pytest.mark.fault("B07")
@BACKENDS
@pytest.mark.parametrize("way", WAYS)
@SHAPES_WITH_TOOLS
async def test_parallel_calls_in_a_stream_stay_apart(scene, path, way, model):
    reply = streams(*WAYS[way], chunk(finish="tool_calls"))
    scene.edge.then(reply)
    scene.cloud.then(reply)
    body = asking(path, stream=True, model=model, tools=tools_of(path, *NAMES))
    said = told(path, await ask(port_of(scene.gateway), path, body))
    assert [(name, json.loads(given)) for _, name, given in said.calls] == WANTED
    ids = [id_ for id_, *_ in said.calls]
    assert all(ids)
    assert len(set(ids)) == 3
    assert (said.ending, said.errors) == ("tool_calls", [])
    if "ids" not in way and way not in ("neither", "the same id"):
        assert ids == [distinct(place) for place in range(3)]


def whole(calls: Sequence[Mapping[str, Any]], finish: str = "tool_calls") -> Reply:
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}
    return answers(HEAD | {"object": "chat.completion", "choices": [choice], "usage": usage})


@pytest.mark.fault("B07")
@BACKENDS
@pytest.mark.parametrize("id_of", [distinct, nobody, lambda _: "", lambda _: "same"])
@SHAPES_WITH_TOOLS
async def test_parallel_calls_of_a_whole_answer_stay_apart(scene, path, id_of, model):
    given = [json.dumps(given) for _, given in WANTED]
    reply = whole([begun(p, None, id_of(p), given[p]) for p in range(3)])
    scene.edge.then(reply)
    scene.cloud.then(reply)
    body = asking(path, model=model, tools=tools_of(path, *NAMES))
    said = told(path, await ask(port_of(scene.gateway), path, body))
    assert [(name, json.loads(given)) for _, name, given in said.calls] == WANTED
    assert len({id_ for id_, *_ in said.calls if id_}) == 3


def choices(path: str) -> Mapping[str, Any]:
    match path:
        case "/v1/messages":
            kinds = {"auto": "auto", "required": "any"}
            told_: dict[str, Any] = {kind: {"type": word} for kind, word in kinds.items()}
            return told_ | {"named": {"type": "tool", "name": "weather"}}
        case "/v1/responses":
            named: dict[str, Any] = {"type": "function", "name": "weather"}
        case _:
            named = {"type": "function", "function": {"name": "weather"}}
    return {"auto": "auto", "required": "required", "named": named}


CALL = begun(0, 0, "call_1", json.dumps(WANTED[0][1]))
HALF = begun(0, 0, "call_1", '{"city": "Os')


def as_asked(call: Mapping[str, Any], finish: str) -> Reply:
    """One call, as a stream or whole, whichever is asked for."""

    def reply(received: Any) -> Any:
        if received.json.get("stream"):
            return streams(chunk([call]), chunk(finish=finish))(received)
        return whole([{k: v for k, v in call.items() if k != "index"}], finish)(received)

    return reply


@pytest.mark.fault("B08")
@BOTH_WAYS
@BACKENDS
@pytest.mark.parametrize("choice", ["auto", "required", "named"])
@SHAPES_WITH_TOOLS
async def test_a_call_that_ends_with_stop_ends_as_a_call(scene, path, choice, model, stream):
    scene.edge.then(as_asked(CALL, "stop"))
    scene.cloud.then(as_asked(CALL, "stop"))
    tools = tools_of(path, *NAMES)
    asked = {"tools": tools, "tool_choice": choices(path)[choice]}
    body = asking(path, stream=stream, model=model, **asked)
    said = told(path, await ask(port_of(scene.gateway), path, body))
    [(id_, name, given)] = said.calls
    assert (id_, name, json.loads(given)) == ("call_1", "weather", {"city": "Oslo"})
    assert said.ending == "tool_calls"


@pytest.mark.fault("B08")
@BOTH_WAYS
@BACKENDS
@SHAPES_WITH_TOOLS
async def test_words_alone_end_as_words_though_there_were_tools(scene, path, model, stream):
    scene.edge.then(says("It is cold."))
    scene.cloud.then(says("It is cold."))
    body = asking(path, stream=stream, model=model, tools=tools_of(path, *NAMES))
    said = told(path, await ask(port_of(scene.gateway), path, body))
    assert (said.text, said.ending, said.calls) == ("It is cold.", "stop", [])


@pytest.mark.fault("B08")
@BOTH_WAYS
@BACKENDS
@pytest.mark.parametrize("finish", ["stop", "length"])
@SHAPES_WITH_TOOLS
async def test_a_call_cut_short_never_ends_as_a_whole_one(scene, path, finish, model, stream):
    scene.edge.then(as_asked(HALF, finish))
    scene.cloud.then(as_asked(HALF, finish))
    body = asking(path, stream=stream, model=model, tools=tools_of(path, *NAMES))
    got = await ask(port_of(scene.gateway), path, body)
    assert got.status >= 500 or told(path, got).ending in ("length", None)


@pytest.mark.fault("B08")
@BACKENDS
async def test_a_call_that_the_stream_never_ends_is_an_error(scene, model):
    reply = cut(streams(chunk([CALL]), chunk(finish="stop")), after=0, end=END)
    scene.edge.then(reply)
    scene.cloud.then(reply)
    body = asking(CHAT, stream=True, model=model, tools=tools_of(CHAT, *NAMES))
    said = told(CHAT, await ask(port_of(scene.gateway), CHAT, body))
    assert (said.ending, len(said.errors)) == (None, 1)
