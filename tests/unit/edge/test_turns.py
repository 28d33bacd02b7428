"""Conversations in every form that callers send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hybridge.edge.refused import Refused
from hybridge.edge.turns import turns

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
def test_a_tool_call_without_words_is_the_same_however_it_is_said(content: Any) -> None:
    said = {"role": "assistant", "tool_calls": [CALL]}
    expected = said | {"content": ""}
    assert turns([said | {"content": content}]) == [expected]
    assert turns([said]) == [expected]


def test_parts_become_text_in_every_role() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    for role in ("system", "user", "assistant", "tool"):
        assert turns([{"role": role, "content": parts}])[0]["content"] == "one\ntwo"
    refusal = [{"type": "refusal", "refusal": "I cannot."}]
    assert turns([{"role": "assistant", "content": refusal}])[0]["content"] == "I cannot."


def test_a_developer_is_the_system() -> None:
    (turn,) = turns([{"role": "developer", "content": "Be brief."}])
    assert turn == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [('{"a": 1}', '{"a": 1}'), ("", "{}"), (None, "{}"), ('{"a": ', json.dumps('{"a": '))],
)
def test_arguments_are_always_json(arguments: str | None, sent: str) -> None:
    """What was cut off stays visible, as a string; the engine would refuse the whole request."""
    call = CALL | {"function": {"name": "f", "arguments": arguments}}
    (turn,) = turns([{"role": "assistant", "tool_calls": [call]}])
    assert turn["tool_calls"][0]["function"] == {"name": "f", "arguments": sent}


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file", "odd", None])
def test_what_cannot_be_read_is_refused_with_its_place(kind: str | None) -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": kind, str(kind): {"url": "x"}}]
    with pytest.raises(Refused) as caught:
        turns([{"role": "user", "content": "Hi"}, {"role": "user", "content": parts}])
    assert caught.value.param == "messages[1].content[1]"


def test_the_request_itself_is_not_changed() -> None:
    said = [{"role": "developer", "content": [{"type": "text", "text": "a"}], "tool_calls": [CALL]}]
    before = json.dumps(said)
    turns(said)
    assert json.dumps(said) == before


@pytest.mark.parametrize("odd", ["hello", None, ["hello"], [1]])
def test_what_is_no_conversation_is_left_to_the_engine(odd: Any) -> None:
    assert turns(odd) == odd
