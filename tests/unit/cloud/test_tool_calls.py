"""Tool calls as strict clients need them, whatever an upstream makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.tool_calls import ToolCalls, mend
from hybridge.core.assembly import assemble
from hybridge.core.response import Chunk
from hybridge.core.wire import chunk, completion

WANTED = [("one", '{"城市": "上海 👨‍👩‍👧"}'), ("two", "{}"), ("three", '{"n": [1, 2]}')]


def piece(arguments: str, *, index: int | None = 0, **head: str) -> dict[str, Any]:
    told: dict[str, Any] = {"function": {"arguments": arguments}}
    if index is not None:
        told["index"] = index
    if "name" in head:
        told["function"]["name"] = head["name"]
        told["type"] = "function"
    return told | ({"id": head["id"]} if "id" in head else {})


def chunks(*pieces: dict[str, Any], finish: str = "tool_calls") -> list[Chunk]:
    choices = [{"index": 0, "delta": {"tool_calls": [p]}, "finish_reason": None} for p in pieces]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    return [chunk(json.dumps({"id": "x", "choices": [c]}).encode()) for c in choices]


def mended(stream: list[Chunk]) -> list[Chunk]:
    calls = ToolCalls("r1")
    return [calls.mend(c) for c in stream]


def joined(stream: list[Chunk]) -> list[dict[str, Any]]:
    """As a client does it: by index, everything glued that comes under the same one."""
    found: dict[int, dict[str, Any]] = {}
    for told in stream:
        for choice in json.loads(told.wire)["choices"]:
            for part in choice["delta"].get("tool_calls", ()):
                call = found.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                call["id"] += part.get("id") or ""
                call["name"] += part["function"].get("name") or ""
                call["arguments"] += part["function"].get("arguments") or ""
    assert sorted(found) == list(range(len(found)))
    return [found[index] for index in sorted(found)]


def check(stream: list[Chunk]) -> None:
    calls = joined(stream)
    assert [(c["name"], json.loads(c["arguments"])) for c in calls] == [
        (name, json.loads(arguments)) for name, arguments in WANTED
    ]
    ids = [c["id"] for c in calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def interleaved():
    heads = [piece("", index=i, id=f"c{i}", name=n) for i, (n, _) in enumerate(WANTED)]
    tails = [
        piece(a[k], index=i) for k in range(40) for i, (_, a) in enumerate(WANTED) if k < len(a)
    ]
    return [*heads, *tails]


def all_index_0():
    return [piece(a, index=0, id=f"c{i}", name=n) for i, (n, a) in enumerate(WANTED)]


def no_ids(index: bool):
    told = []
    for i, (name, arguments) in enumerate(WANTED):
        place = i if index else None
        told += [piece("", index=place, name=name), *(piece(c, index=place) for c in arguments)]
    return told


def no_ids_all_index_0():
    return [piece(a, index=0, name=n) for n, a in WANTED]


def names_repeated():
    told = []
    for i, (name, arguments) in enumerate(WANTED):
        told += [piece(c, index=i, id=f"c{i}", name=name) for c in arguments]
    return told


def one_id_for_all():
    return [piece(a, index=i, id="same", name=n) for i, (n, a) in enumerate(WANTED)]


@pytest.mark.parametrize(
    "pieces",
    [
        interleaved(),
        all_index_0(),
        no_ids(index=True),
        no_ids(index=False),
        no_ids_all_index_0(),
        names_repeated(),
        one_id_for_all(),
    ],
)
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_every_call_comes_out_whole(pieces, finish):
    stream = mended(chunks(*pieces, finish=finish))
    check(stream)
    assert stream[-1].finish_reason == "tool_calls"
    assert assemble(stream).finish_reason == "tool_calls"


def test_what_is_right_passes_byte_for_byte():
    stream = chunks(*interleaved())
    assert [c.wire for c in mended(stream)] == [c.wire for c in stream]


def test_text_passes_untouched_and_keeps_its_stop():
    said = [
        {"index": 0, "delta": {"content": 'about "tool_calls"'}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    stream = [chunk(json.dumps({"choices": [c]}).encode()) for c in said]
    assert mended(stream) == stream


def test_a_call_cut_short_is_no_finished_call():
    stream = mended(chunks(piece('{"a": 1', id="c", name="f"), finish="stop"))
    assert stream[-1].finish_reason == "length"


def test_arguments_that_are_no_string_become_one():
    odd = piece("", id="c", name="f")
    odd["function"]["arguments"] = {"a": 1}
    assert joined(mended(chunks(odd)))[0]["arguments"] == '{"a":1}'


def test_choices_have_calls_of_their_own():
    told = [
        {"index": n, "delta": {"tool_calls": [piece("{}", id=f"c{n}", name="f")]}} for n in (0, 1)
    ]
    stream = [chunk(json.dumps({"choices": [c]}).encode()) for c in told]
    assert mended(stream) == stream


def whole(calls: list[dict[str, Any]], finish: str):
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return completion(json.dumps({"choices": [choice]}).encode())


def test_whole_answers_get_ids_and_the_right_ending():
    calls = [{"type": "function", "function": {"name": n, "arguments": a}} for n, a in WANTED]
    answer = mend(whole(calls, "stop"), "r1")
    message = json.loads(answer.wire)["choices"][0]["message"]
    assert answer.finish_reason == "tool_calls"
    assert len({call["id"] for call in message["tool_calls"]}) == 3


def test_a_whole_answer_that_is_right_passes_byte_for_byte():
    function = {"name": "f", "arguments": "{}"}
    answer = whole([{"id": "c", "type": "function", "function": function}], "tool_calls")
    assert mend(answer, "r1") is answer


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(0, 2),
            st.none() | st.sampled_from(["a", "b", ""]),
            st.none() | st.sampled_from(["f", "g"]),
            st.none() | st.text("{}[]12,", max_size=4),
        ),
        max_size=8,
    )
)
def test_whatever_comes_indexes_are_in_order_and_ids_unique(parts):
    told = [
        {"index": index, "id": name, "function": {"name": called, "arguments": arguments}}
        for index, name, called, arguments in parts
    ]
    calls = joined(mended(chunks(*told)))
    ids = [call["id"] for call in calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert "".join(sorted("".join(c["arguments"] for c in calls))) == "".join(
        sorted("".join(arguments or "" for *_, arguments in parts))
    )


def test_arguments_too_deep_to_be_read_are_a_call_that_was_cut_short():
    deep = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "[" * 100_000}}
    *_, last = mended(chunks(deep, finish="stop"))
    assert last.finish_reason == "length"
