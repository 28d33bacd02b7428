"""B10: ids of tool calls, respelled for one provider and for nobody else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.tool_ids import ALPHANUMERIC9, WORDLIKE, odd, respelled

IDS = st.one_of(
    st.from_regex(r"[A-Za-z0-9]{9}", fullmatch=True),
    st.from_regex(r"call_[A-Za-z0-9]{4,30}", fullmatch=True),
    st.sampled_from(["functions.get_weather:0", "功能-1", "", "a" * 200, "123456789"]),
    st.text(max_size=12),
)


def history(ids):
    calls = [{"id": id_, "type": "function", "function": {"name": "f"}} for id_ in ids]
    results = [{"role": "tool", "tool_call_id": id_, "content": "1"} for id_ in ids]
    asked = {"role": "user", "content": "call_me"}
    return [asked, {"role": "assistant", "content": None, "tool_calls": calls}, *results]


def named(messages):
    calls = [call["id"] for call in messages[1]["tool_calls"]]
    return calls, [message["tool_call_id"] for message in messages[2:]]


@pytest.mark.parametrize("spelling", [ALPHANUMERIC9, WORDLIKE])
@given(ids=st.lists(IDS, unique=True, max_size=8))
def test_both_places_agree_none_collide_and_all_fit(spelling, ids):
    before = history(ids)
    kept = json.dumps(before)
    after = respelled(before, spelling)
    calls, results = named(after)
    assert calls == results
    assert len(set(calls)) == len(ids)
    assert not odd(after, spelling)
    assert all(
        new == old for new, old in zip(calls, ids, strict=True) if spelling.pattern.fullmatch(old)
    )
    assert json.dumps(before) == kept, "the caller's own body is never changed"
    assert respelled(before, spelling) == after, "the same every time"


def test_what_fits_already_is_the_very_same_object():
    messages = history(["abcdefghi", "ABCDEFGH1"])
    assert respelled(messages, ALPHANUMERIC9) is messages


def test_an_id_keeps_its_spelling_as_the_conversation_grows():
    first = named(respelled(history(["call_1"]), ALPHANUMERIC9))[0]
    later = named(respelled(history(["call_1", "call_2"]), ALPHANUMERIC9))[0]
    assert later[0] == first[0]


@pytest.mark.parametrize(
    "messages", [None, "text", [None], [{"tool_calls": [5]}], [{"role": "user"}]]
)
def test_what_is_no_conversation_is_left_alone(messages):
    assert respelled(messages, ALPHANUMERIC9) is messages


@pytest.mark.parametrize("odd_id", [[1], {}, 5, None])
def test_an_id_that_is_none_is_the_upstreams_to_refuse(odd_id):
    messages = [*history(["call_1"]), {"role": "tool", "tool_call_id": odd_id, "content": ""}]
    assert respelled(messages, ALPHANUMERIC9)[-1] == messages[-1]
