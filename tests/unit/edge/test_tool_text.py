"""Tool calls read out of a model's text, however it comes."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.edge.tool_text import ToolText, Value

ARGUMENTS = '{"city": "巴黎 🗼", "note": "a \\"}\\" b", "days": [1, {"x": {}}]}'
CALL = '{"name": "weather", "arguments": ' + ARGUMENTS + "}"
PRETTY = '{\n  "name": "weather",\n  "arguments": ' + ARGUMENTS + "\n}"
WRITTEN = [
    f"<tool_call>\n{CALL}\n</tool_call>",
    f"\n<tool_call>{PRETTY}</tool_call>\n",
    f"```json\n{CALL}\n```",
    f"```json\n{PRETTY}\n```",
    CALL,
    PRETTY,
]


def told(pieces: list[str], reason: str = "stop") -> tuple[str, list[tuple[str, str]], ToolText]:
    """The text, the calls as name and arguments, and the reader."""
    reader = ToolText({"weather", "clock"}, lambda index: f"id{index}")
    deltas = [delta for piece in pieces for delta in reader.feed(piece)]
    deltas += reader.close(reason)
    text, calls = "", list[list[str]]()
    for delta in deltas:
        text += delta.get("content", "")
        for call in delta.get("tool_calls", ()):
            if call["index"] == len(calls):
                assert (call["id"], call["type"]) == (f"id{len(calls)}", "function")
                calls.append([call["function"]["name"], ""])
            assert "name" not in call["function"] or not calls[call["index"]][1]
            calls[call["index"]][1] += call["function"]["arguments"]
    return text, [(name, arguments) for name, arguments in calls], reader


def cut_at(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


@given(written=st.sampled_from(WRITTEN), places=st.lists(st.integers(0, 300), max_size=40))
def test_a_call_is_the_same_however_it_is_written_and_cut(written: str, places: list[int]) -> None:
    text, calls, reader = told(cut_at(written, places))
    assert (text, calls, reader.cut) == ("", [("weather", ARGUMENTS)], False)
    assert json.loads(calls[0][1])["city"] == "巴黎 🗼"


@given(places=st.lists(st.integers(0, 400), max_size=40))
def test_several_calls_and_the_words_before_them(places: list[int]) -> None:
    clock = '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'
    text, calls, _ = told(cut_at(f"I shall look. {WRITTEN[0]}\n{clock}", places))
    assert text == "I shall look. "
    assert calls == [("weather", ARGUMENTS), ("clock", "{}")]


@given(
    text=st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            (
                "Hello <tool_cal no, not really",
                '{"verdict": "good", "arguments": {"a": 1}}',
                '{"name": "unknown", "arguments": {"a": 1}}',
                '```json\n{"name": "Ann", "age": 3}\n```',
                '<tool_call>{"name": "weather"}</tool_call> oh',
                "{",
                "<",
                "```python\nprint(1)\n```",
                "```json\n[1, 2]\n```",
                '{"name": "weather", "arguments": "none"} and more',
            )
        ),
    ),
    places=st.lists(st.integers(0, 100), max_size=20),
)
def test_what_is_no_call_is_text_to_the_letter(text: str, places: list[int]) -> None:
    said, calls, _ = told(cut_at(text, places))
    assert (said, calls) == (text, [])


def test_plain_text_is_not_held_back() -> None:
    reader = ToolText({"weather"}, str)
    assert reader.feed("Hel") == [{"content": "Hel"}]
    assert reader.feed("lo <") == [{"content": "lo "}]
    assert reader.feed("b>") == [{"content": "<b>"}]


def test_arguments_are_passed_on_as_they_come() -> None:
    reader = ToolText({"weather"}, str)
    assert reader.feed('{"name": "weather", "arguments": ') == []
    begun = reader.feed('{"ci')
    assert [d["tool_calls"][0]["function"]["arguments"] for d in begun] == ["", '{"ci']
    (more,) = reader.feed('ty": "R')
    assert more["tool_calls"][0]["function"] == {"arguments": 'ty": "R'}


@pytest.mark.parametrize("end", range(1, len(CALL)))
def test_a_call_that_is_cut_off_is_known_as_such(end: int) -> None:
    whole = len(CALL) - 1  # without the last brace the arguments are all there
    text, calls, reader = told([CALL[:end]], "length")
    assert text == ""
    assert reader.cut == (bool(calls) and end < whole)


@given(
    value=st.recursive(
        st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3),
        lambda inner: st.dictionaries(st.text(max_size=5), st.lists(inner, max_size=2), max_size=2),
        max_leaves=6,
    ),
    after=st.text(max_size=5),
    ascii_only=st.booleans(),
)
def test_the_end_of_an_object_is_found(value: object, after: str, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert Value().feed(text + after) == len(text)
    assert Value().feed(text[:-1]) is None
