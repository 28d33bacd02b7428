"""Turns and blocks, as the chat messages that go on."""

from __future__ import annotations

import base64
from itertools import count, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import RequestError
from hybridge.core.request import Feature

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0123456789").decode()
PDF = base64.b64encode(b"%PDF-1.7 0123456789").decode()
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
AT = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
DOCUMENT = {
    "type": "document",
    "title": "report",
    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
}
USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "北京", "n": 1.0}}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def result(said=None, **members):
    told = {"type": "tool_result", "tool_use_id": "toolu_1", **members}
    return told if said is None else told | {"content": said}


@pytest.fixture
def turns(body, sent):
    """The messages that turns become, each a role and its content."""

    def told(*given):
        said = [{"role": role, "content": content} for role, content in given]
        return sent(body(messages=said))["messages"]

    return told


@pytest.mark.parametrize("content", ["Hi", [text("Hi")]])
def test_a_string_is_a_block_of_text(turns, content):
    assert turns(("user", content)) == [{"role": "user", "content": "Hi"}]


def test_text_alone_is_one_string(turns):
    assert turns(("user", [text("a"), text("b")])) == [{"role": "user", "content": "a\nb"}]


def test_pictures_keep_their_bytes_and_their_place(body, read):
    request = read(body(text("a"), PICTURE, text("b"), AT)).request
    assert request.body["messages"][0]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "text", "text": "b"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ]
    assert request.features == {Feature.IMAGES}
    assert request.messages[0].images == 2


def test_a_document_is_a_file(body, read):
    request = read(body(DOCUMENT | {"context": "of May"}, text("Sum it up."))).request
    assert request.body["messages"][0]["content"] == [
        {"type": "text", "text": "of May"},
        {
            "type": "file",
            "file": {"filename": "report.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        },
        {"type": "text", "text": "Sum it up."},
    ]
    assert request.features == {Feature.FILES}


def test_a_document_of_words_is_text(body, read):
    source = {"type": "text", "media_type": "text/plain", "data": "words"}
    block = {"type": "document", "source": source, "title": "T", "citations": {"enabled": False}}
    request = read(body(block)).request
    assert request.body["messages"] == [{"role": "user", "content": "T\nwords"}]
    assert not request.features


@pytest.mark.parametrize(
    ("content", "told"),
    [("words", "words"), ([text("a"), text("b")], "a\nb")],
)
def test_a_document_of_blocks_is_those(turns, content, told):
    block = {"type": "document", "source": {"type": "content", "content": content}}
    assert turns(("user", [block])) == [{"role": "user", "content": told}]


def test_a_search_result_is_text(turns):
    block = {"type": "search_result", "title": "T", "source": "https://x", "content": [text("a")]}
    assert turns(("user", [block])) == [{"role": "user", "content": "T\nhttps://x\na"}]


def test_a_round_with_a_tool(turns):
    told = turns(
        ("user", "Weather?"),
        ("assistant", [text("Let me look."), USE]),
        ("user", [result("Sunny."), text("And?")]),
    )
    call = {
        "id": "toolu_1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city":"北京","n":1.0}'},
    }
    assert told == [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "toolu_1", "content": "Sunny."},
        {"role": "user", "content": "And?"},
    ]


def test_calls_without_words_have_no_content(turns):
    assert turns(("assistant", [USE | {"caller": {"type": "direct"}}]))[0]["content"] is None


def test_results_come_before_whatever_else_the_user_said(turns):
    told = turns(
        ("assistant", [USE, USE | {"id": "toolu_2"}]),
        ("user", [text("first"), result("one")]),
        ("user", [result("two") | {"tool_use_id": "toolu_2"}, text("last")]),
    )
    assert [message["role"] for message in told] == ["assistant", "tool", "tool", "user"]
    assert [message["content"] for message in told[1:]] == ["one", "two", "first\nlast"]


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (result(), ""),
        (result(""), ""),
        (result([]), ""),
        (result([text("a"), text("b")]), "a\nb"),
        (result("no such city", is_error=True), "Error: no such city"),
        (result([text("no such city")], is_error=True), "Error: no such city"),
        (result(is_error=True), "Error"),
        (result("fine", is_error=False), "fine"),
    ],
)
def test_results_of_tools(turns, block, told):
    message = {"role": "tool", "tool_call_id": "toolu_1", "content": told}
    assert turns(("user", [block])) == [message]


def test_a_picture_from_a_tool_is_shown_in_the_next_turn(body, read):
    request = read(body(result([text("a map"), PICTURE]), text("Where?"))).request
    tool, user = request.body["messages"]
    assert tool["content"] == "a map"
    assert user["content"] == [
        {"type": "text", "text": "Result of the tool call toolu_1:"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "text", "text": "Where?"},
    ]
    assert request.features == {Feature.IMAGES}


def test_a_tool_that_shows_only_a_picture_says_where_it_is(turns):
    assert (
        turns(("user", [result([PICTURE])]))[0]["content"] == "The result is in the next message."
    )


def test_neighbours_of_one_role_are_one_turn(turns):
    told = turns(("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d"))
    assert told == [
        {"role": "user", "content": "a\nb"},
        {"role": "assistant", "content": "c\nd"},
    ]


def test_a_last_turn_of_the_assistants_stays(turns):
    told = turns(("user", "Capital of France?"), ("assistant", "It is ("))
    assert told[-1] == {"role": "assistant", "content": "It is ("}


def test_a_system_turn_stays_where_it_is(turns):
    told = turns(("user", "a"), ("system", "Be brief."), ("user", "b"))
    assert [message["role"] for message in told] == ["user", "system", "user"]


def test_earlier_thoughts_do_not_travel(turns):
    thoughts = [
        {"type": "thinking", "thinking": "secret", "signature": "s"},
        {"type": "redacted_thinking", "data": "secret"},
    ]
    told = turns(("assistant", [*thoughts, text("Yes.")]), ("assistant", thoughts), ("user", "?"))
    assert told[0] == {"role": "assistant", "content": "Yes."}
    assert "secret" not in str(told)


@pytest.mark.parametrize(
    ("content", "param"),
    [
        (3, "messages.1.content"),
        ([], "messages.1.content"),
        (["a"], "messages.1.content.0"),
        ([text("a"), {}], "messages.1.content.1.type"),
        ([text("a"), {"type": "video"}], "messages.1.content.1.type"),
        ([text("a"), {"type": "container_upload", "file_id": "f"}], "messages.1.content.1.type"),
        ([text("a"), USE], "messages.1.content.1.type"),
        ([{"type": "text"}], "messages.1.content.0.text"),
        ([text("a") | {"x": 1}], "messages.1.content.0.x"),
        ([{"type": "image"}], "messages.1.content.0.source"),
        ([{"type": "image", "source": {}}], "messages.1.content.0.source.type"),
        (
            [{"type": "image", "source": {"type": "file", "file_id": "f"}}],
            "messages.1.content.0.source.type",
        ),
        (
            [PICTURE | {"source": PICTURE["source"] | {"media_type": "image/tiff"}}],
            "messages.1.content.0.source.media_type",
        ),
        (
            [PICTURE | {"source": PICTURE["source"] | {"data": "§"}}],
            "messages.1.content.0.source.data",
        ),
        (
            [{"type": "image", "source": {"type": "url", "url": "ftp://x"}}],
            "messages.1.content.0.source.url",
        ),
        ([DOCUMENT | {"citations": {"enabled": True}}], "messages.1.content.0.citations"),
        (
            [DOCUMENT | {"source": {"type": "url", "url": "https://x/a.pdf"}}],
            "messages.1.content.0.source.type",
        ),
        (
            [DOCUMENT | {"source": {"type": "base64", "media_type": "a/b", "data": "x"}}],
            "messages.1.content.0.source.media_type",
        ),
        (
            [{"type": "document", "source": {"type": "content", "content": [USE]}}],
            "messages.1.content.0.source.content.0.type",
        ),
        ([result("a") | {"tool_use_id": ""}], "messages.1.content.0.tool_use_id"),
        ([result("a", is_error="yes")], "messages.1.content.0.is_error"),
        ([result(3)], "messages.1.content.0.content"),
        ([result([USE])], "messages.1.content.0.content.0.type"),
    ],
)
def test_the_place_at_fault_is_named(body, read, content, param):
    said = [{"role": "user", "content": "Hi"}, {"role": "user", "content": content}]
    with pytest.raises(RequestError) as caught:
        read(body(messages=said))
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("turn", "param"),
    [
        ("Hi", "messages"),
        ({"content": "Hi"}, "messages.0.role"),
        ({"role": "tool", "content": "Hi"}, "messages.0.role"),
        ({"role": "user"}, "messages.0.content"),
        ({"role": "user", "content": "Hi", "name": "x"}, "messages.0.name"),
        ({"role": "assistant", "content": [PICTURE]}, "messages.0.content.0.type"),
        ({"role": "assistant", "content": [USE | {"id": ""}]}, "messages.0.content.0.id"),
        ({"role": "assistant", "content": [USE | {"name": 3}]}, "messages.0.content.0.name"),
        ({"role": "assistant", "content": [USE | {"input": "{}"}]}, "messages.0.content.0.input"),
        (
            {"role": "assistant", "content": [USE | {"caller": {"type": "code"}}]},
            "messages.0.content.0.caller",
        ),
    ],
)
def test_a_turn_of_a_wrong_form(body, read, turn, param):
    with pytest.raises(RequestError) as caught:
        read(body(messages=[turn]))
    assert caught.value.param == param


def test_no_error_repeats_what_was_said(body, read):
    with pytest.raises(RequestError) as caught:
        read(body({"type": "secret"}))
    assert "secret" not in caught.value.message


@st.composite
def conversations(draw):
    """Turns of either role, whose words and ids are all different."""
    number = count()

    def words():
        return text(f"<{next(number)}>")

    def block(role, kind):
        match role, kind:
            case _, "words":
                return words()
            case "assistant", _:
                name = f"c{next(number)}"
                return USE | {"id": name, "input": {"n": next(number), "deep": [None, {"x": "é"}]}}
            case _, "picture":
                return PICTURE
        inner = [words() for _ in range(draw(st.integers(0, 2)))]
        return result([*inner, *([PICTURE] if kind == "shows" else [])], is_error=kind == "fails")

    turns = []
    for _ in range(draw(st.integers(1, 6))):
        role = draw(st.sampled_from(["user", "assistant"]))
        kinds = draw(
            st.lists(
                st.sampled_from(["words", "tool", "picture", "shows", "fails"]),
                min_size=1,
                max_size=4,
            )
        )
        turns.append({"role": role, "content": [block(role, kind) for kind in kinds]})
    return turns


def said_by(turns, role, kind):
    return [b for t in turns if t["role"] == role for b in t["content"] if b["type"] == kind]


def plain(content) -> str:
    """All text of a message's content."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


@given(turns=conversations())
def test_nothing_of_a_conversation_is_lost_or_moved(body, sent, turns):
    told = sent(body(messages=turns))["messages"]

    def by(role):
        return [message for message in told if message["role"] == role]

    for role in ("user", "assistant"):
        words = [
            line for m in by(role) for line in plain(m["content"]).split("\n") if line[:1] == "<"
        ]
        assert words == [block["text"] for block in said_by(turns, role, "text")]
    calls = [call for m in by("assistant") for call in m.get("tool_calls", ())]
    assert [
        (c["id"], c["function"]["name"], msgspec.json.decode(c["function"]["arguments"]))
        for c in calls
    ] == [(b["id"], b["name"], b["input"]) for b in said_by(turns, "assistant", "tool_use")]
    results = said_by(turns, "user", "tool_result")
    assert [m["tool_call_id"] for m in by("tool")] == [b["tool_use_id"] for b in results]
    for message, block in zip(by("tool"), results, strict=True):
        assert (
            "\n".join(b["text"] for b in block["content"] if b["type"] == "text")
            in message["content"]
        )
        assert message["content"].startswith("Error") == block["is_error"]
    pictures = [
        p
        for m in by("user")
        for p in m["content"]
        if isinstance(p, dict) and p["type"] == "image_url"
    ]
    inside = [b for block in results for b in block["content"]]
    assert len(pictures) == sum(
        b["type"] == "image" for b in [*said_by(turns, "user", "image"), *inside]
    )


@given(turns=conversations())
def test_results_follow_the_turn_that_called_and_roles_alternate(body, sent, turns):
    told = sent(body(messages=turns))["messages"]
    for before, after in pairwise(told):
        assert after["role"] != "tool" or before["role"] in ("assistant", "tool")
        assert after["role"] != before["role"] or after["role"] == "tool"
