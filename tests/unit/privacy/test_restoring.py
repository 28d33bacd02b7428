"""Values come back in an answer as if it had come in one piece, however it is cut (R31)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from random import Random
from typing import Any

import msgspec
import pytest

from hybridge.core.assembly import assemble
from hybridge.core.errors import BackendError, Fault
from hybridge.core.response import Chunk, Completion, Event
from hybridge.core.wire import chunk, completion, parse
from hybridge.privacy.examine import Value
from hybridge.privacy.pseudonyms.answer import Restoring, restored
from hybridge.privacy.pseudonyms.placeholder import LONGEST
from hybridge.privacy.pseudonyms.tail import Kind, Quotes, Tail
from hybridge.privacy.pseudonyms.vault import Vault

pytestmark = pytest.mark.anyio

MAIL, PHONE, SECRET, ODD = "zhang.wei@corp.cn", "13800138000", "hunter2Xk9q", 'A "b" \\ c\n\td\x01'
HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def vault() -> Vault:
    kinds = {"EMAIL": MAIL, "PHONE": PHONE, "SECRET": SECRET, "ADDRESS": ODD}
    made = Vault([Value(kind, text) for kind, text in kinds.items()], "x7k2")
    assert made.hide(f"{MAIL} {PHONE} {SECRET} {ODD}") == (
        "{{EMAIL_1_x7k2}} {{PHONE_2_x7k2}} {{SECRET_3_x7k2}} {{ADDRESS_4_x7k2}}"
    )
    return made


def restore(text: str, kind: Kind = "text") -> str:
    return Tail(vault(), kind).feed(text, last=True)


def delta(said: dict[str, Any], index: int = 0, finish: str | None = None, **more: Any) -> Chunk:
    choice = {"index": index, "delta": said, "finish_reason": finish}
    return chunk(msgspec.json.encode(HEAD | {"choices": [choice]} | more))


def whole(*messages: dict[str, Any]) -> Completion:
    choices = [
        {"index": index, "message": {"role": "assistant", **said}, "finish_reason": "stop"}
        for index, said in enumerate(messages)
    ]
    return completion(msgspec.json.encode({"id": "c1", "model": "m", "choices": choices}))


async def played(events: Iterable[Event | Exception]) -> AsyncGenerator[Event, None]:
    for event in events:
        if isinstance(event, Exception):
            raise event
        yield event


async def heard(*events: Event | Exception, content: Kind = "mixed") -> list[Event]:
    answer = Restoring(vault(), content)
    return [event async for event in restored(played(events), answer)]


async def whole_of(*messages: dict[str, Any], content: Kind = "mixed") -> dict[str, Any]:
    (event,) = await heard(whole(*messages), content=content)
    return parse(event.wire)


@pytest.mark.parametrize(
    "written",
    [
        "{{EMAIL_1_x7k2}}",
        "{{ EMAIL_1_x7k2 }}",
        "{{email_1_X7K2}}",
        r"{{EMAIL\_1\_x7k2}}",
        "{EMAIL_1_x7k2}",
        "{{邮箱_1_x7k2}}",
        "[EMAIL_1_x7k2]",
        "EMAIL_1_x7k2",
        "[email_1_x7k2]",
        "EMAIL_1_X7K2",
        "[EMAIL-1-x7k2]",
        "[EMAIL 1 x7k2]",
        "EMAIL 1 x7k2",
        r"\[EMAIL\_1\_x7k2\]",
        r"\\[EMAIL\\_1\\_x7k2\\]",
        "【EMAIL_1_x7k2】",
        "［EMAIL_1_x7k2］",
        "[邮箱_1_x7k2]",
        "[1_x7k2]",
        "[ EMAIL_1_x7k2 ]",
        "EMAIL1_x7k2",
    ],
)
def test_a_placeholder_that_was_copied_carelessly_is_known(written: str) -> None:
    assert restore(f"请联系{written}吧") == f"请联系{MAIL}吧"
    assert restore(f"({written}),") == f"({MAIL}),"
    assert restore(written) == MAIL


@pytest.mark.parametrize(
    "text",
    [
        "{{EMAIL_1_a2b3}}",
        "{{EMAIL_9_x7k2}}",
        "{{SECRET_3_x7k2}}",
        "[EMAIL_1_a2b3]",
        "[EMAIL_9_x7k2]",
        "[SECRET_3_x7k2]",
        "xEMAIL_1_x7k2",
        "EMAIL_1_x7k2y",
        "EMAIL_1",
        "[EMAIL_1_",
        "x7k2",
        "see [the docs](https://a.b/[1]) and arr[0]",
    ],
)
def test_what_is_none_of_its_placeholders_is_left_alone(text: str) -> None:
    assert restore(text) == text


def test_a_link_stays_a_link() -> None:
    link = "[EMAIL_1_x7k2](mailto:EMAIL_1_x7k2)"
    assert restore(f"Write to {link}.") == f"Write to [{MAIL}](mailto:{MAIL})."


def test_brackets_go_in_pairs_only() -> None:
    assert restore("[EMAIL_1_x7k2, PHONE_2_x7k2]") == f"[{MAIL}, {PHONE}]"
    assert restore("{{EMAIL_1_x7k2} {{{EMAIL_1_x7k2}}}") == f"{{{MAIL} {{{MAIL}}}"
    assert restore("f({a: {{EMAIL_1_x7k2}}})") == f"f({{a: {MAIL}}})"


def test_what_is_held_back_is_short_and_nothing_else_waits() -> None:
    for letters in (
        "[" * 500,
        "{" * 500,
        "{{" + "a" * 500,
        "[" + "a" * 500,
        "\\" * 500,
        "[EMAIL_" + "_" * 500,
        "EMAIL " * 90,
    ):
        tail, out = Tail(vault(), "text"), ""
        for at, letter in enumerate(letters):
            out += tail.feed(letter)
            assert at + 1 - len(out) <= LONGEST
        assert out + tail.feed("", last=True) == letters
    for text in (
        "Hello, world. ",
        "你好，世界",
        "a[0] = b; ",
        "[EMAIL_1_x7k2].",
        "{{EMAIL_1_x7k2}}",
    ):
        assert Tail(vault(), "text").feed(text) == restore(text)


async def test_values_are_escaped_within_arguments_and_nowhere_else() -> None:
    arguments = '{"to": "{{ADDRESS_4_x7k2}}", "cc": "\\nEMAIL_1_x7k2"}'
    call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": arguments}}
    old = {"name": "f", "arguments": arguments}
    said = {"content": "x [ADDRESS_4_x7k2]", "tool_calls": [call], "function_call": old}
    message = (await whole_of(said))["choices"][0]["message"]
    wanted = {"to": ODD, "cc": f"\n{MAIL}"}
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == wanted
    assert json.loads(message["function_call"]["arguments"]) == wanted
    assert message["content"] == f"x {ODD}"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"a": ["[ADDRESS_4_x7k2]"], "b": "x [ADDRESS_4_x7k2]"}', "json"),
        ('{"a": ["[ADDRESS_4_x7k2]"], "b": "x [ADDRESS_4_x7k2]"}', "mixed"),
        ('["[ADDRESS_4_x7k2]"]', "mixed"),
        ('"{{ADDRESS_4_x7k2}}"', "json"),
        ('{"b": "{{ADDRESS_4_x7k2}}"}', "json"),
        ('{"b": ["{{ADDRESS_4_x7k2}}"]}', "mixed"),
    ],
)
async def test_json_in_a_text_stays_json(text: str, content: Kind) -> None:
    said = (await whole_of({"content": text}, content=content))["choices"][0]["message"]["content"]
    assert [*_strings(json.loads(said))][-1].removeprefix("x ") == ODD


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    else:
        for item in value:
            yield from _strings(item)


def test_it_is_known_what_stands_in_a_string_of_json() -> None:
    prose = 'He said "[ADDRESS_4_x7k2]" and {left} ["'
    assert restore(prose, "mixed") == prose.replace("[ADDRESS_4_x7k2]", ODD)
    fenced = '[ADDRESS_4_x7k2]:\n```json\n{"a": "[ADDRESS_4_x7k2]"}\n```\n"[ADDRESS_4_x7k2]"'
    escaped = json.dumps(ODD)[1:-1]
    assert restore(fenced, "mixed") == (f'{ODD}:\n```json\n{{"a": "{escaped}"}}\n```\n"{ODD}"')
    quotes = Quotes()
    for letter, inside in zip(
        '{"a\\"b":[1,"c', [0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1], strict=True
    ):
        quotes.feed(letter)
        assert quotes.inside == bool(inside)


async def test_all_that_a_message_says_is_restored_but_what_is_signed() -> None:
    code = "[EMAIL_1_x7k2]"
    signed = [{"type": "thinking", "thinking": code, "signature": "abc"}]
    said = {
        "content": [{"type": "text", "text": f"a {code}"}],
        "refusal": f"no {code}",
        "reasoning_content": f"hm {code}",
        "annotations": [{"type": "url_citation", "url_citation": {"url": f"mailto:{code}"}}],
        "thinking_blocks": signed,
        "reasoning_details": [{"text": code, "signature": "abc"}, {"text": code}],
    }
    message = (await whole_of({}, said))["choices"][1]["message"]
    assert message["content"] == [{"type": "text", "text": f"a {MAIL}"}]
    assert message["refusal"] == f"no {MAIL}"
    assert message["reasoning_content"] == f"hm {MAIL}"
    assert message["annotations"][0]["url_citation"]["url"] == f"mailto:{MAIL}"
    assert message["thinking_blocks"] == signed
    assert [detail["text"] for detail in message["reasoning_details"]] == [code, MAIL]


async def test_probabilities_that_spell_placeholders_stay_out_of_the_wire() -> None:
    tokens = {"content": [{"token": "[EMAIL", "logprob": -0.5, "top_logprobs": []}]}
    choice = {"index": 0, "delta": {"content": "[EMAIL"}, "logprobs": tokens}
    sent = chunk(msgspec.json.encode(HEAD | {"choices": [choice]}))
    first, *_ = await heard(sent, delta({"content": "_1_x7k2]"}, finish="stop"))
    assert "logprobs" not in parse(first.wire)["choices"][0]
    assert [(token.text, token.logprob) for token in first.tokens] == [("", -0.5)]


async def test_a_chunk_without_anything_to_restore_passes_as_it_came() -> None:
    sent = [delta({"role": "assistant", "content": ""}), delta({"content": "Hello. "})]
    assert await heard(*sent) == sent


async def test_what_was_held_comes_before_the_finish_and_nothing_is_lost() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    total = chunk(msgspec.json.encode(HEAD | {"choices": [], "usage": usage}))
    events = await heard(delta({"content": "a [EM"}), delta({}, finish="stop"), total)
    assert [event.text for event in events] == ["a ", "[EM", "", ""]
    assert [event.finish_reason for event in events] == [None, None, "stop", None]
    assert events[-1] == total
    assert isinstance(events[1], Chunk)
    assert events[1].more  # its finish follows at once
    events = await heard(delta({"content": "[EM"}), total)
    assert [event.text for event in events] == ["", "[EM", ""]
    events = await heard(delta({"content": "[EM"}))
    assert [event.text for event in events] == ["", "[EM"]
    finish = delta({"content": "AIL_1_x7k2"}, finish="length")
    events = await heard(delta({"content": "[EM"}), finish)
    assert [event.text for event in events] == ["", f"[{MAIL}"]


async def test_an_answer_that_breaks_off_says_what_it_had_said() -> None:
    told: list[str] = []
    broken = BackendError("gone", backend="c", fault=Fault.NETWORK)
    events = restored(
        played([delta({"content": "a [EMAIL_1"}), broken]), Restoring(vault(), "text")
    )
    with pytest.raises(BackendError, match="gone"):
        async for event in events:
            told.append(event.text)
    assert told == ["a ", "[EMAIL_1"]


async def test_text_is_over_once_a_tool_is_called() -> None:
    call = {"index": 0, "id": "t", "function": {"name": "f", "arguments": '{"a": "[EMAIL'}}
    more = {"index": 0, "function": {"arguments": '_1_x7k2]"}'}}
    events = await heard(
        delta({"reasoning_content": "hm [EMAIL_1"}),
        delta({"content": "so [PHONE_2"}),
        delta({"tool_calls": [call]}),
        delta({"tool_calls": [more]}, finish="tool_calls"),
    )
    said = [parse(event.wire)["choices"][0]["delta"] for event in events]
    assert said[1] == {"reasoning_content": "[EMAIL_1"}
    assert said[3] == {"content": "[PHONE_2"}
    assert [event.has_tool_calls for event in events] == [False] * 4 + [True] * 2
    arguments = [d["tool_calls"][0]["function"]["arguments"] for d in said[4:]]
    assert json.loads("".join(arguments)) == {"a": MAIL}


async def test_whatever_goes_on_under_an_index_is_restored_over_its_pieces() -> None:
    pieces = [{"index": 0, "text": "hm {{EMAIL"}, {"index": 0, "text": "_1_x7k2}}, {{PHO"}]
    events = await heard(*(delta({"reasoning_details": [piece]}) for piece in pieces))
    said = [parse(event.wire)["choices"][0]["delta"]["reasoning_details"][0] for event in events]
    assert [piece["text"] for piece in said] == ["hm ", f"{MAIL}, ", "{{PHO"]
    assert {piece["index"] for piece in said} == {0}


PIECES = (
    *("{{EMAIL_1_x7k2}}", "{{ADDRESS_4_x7k2}}", "{PHONE_2_x7k2}", "{{PHONE_2_x7k2", "{{", "}", "{"),
    *("[EMAIL_1_x7k2]", "EMAIL_1_x7k2", "email-1-x7k2", r"\[PHONE\_2\_x7k2\]", "【PHONE_2_X7K2】"),
    *("[ADDRESS_4_x7k2]", "[SECRET_3_x7k2]", "[EMAIL_1_a2b3]", "[EMAIL_7_x7k2]", "[邮箱 1 x7k2]"),
    *("[EMAIL_1", "EMAIL_", "PHONE 2 x7", "[", "[[", "\\", "\\[", "]", "_1_x7k2", "x7k2", "1"),
    *(
        "你好，",
        " and ",
        "a[0]",
        "see [the docs](x)",
        "(",
        "\n",
        "E",
        "emails",
        "US_",
        "CN_ID_3",
        ". ",
    ),
)
ARGUMENTS = tuple(piece for piece in PIECES if "\\" not in piece and "\n" not in piece)


def _answer(random: Random) -> list[dict[str, Any]]:
    return [_message(random) for _ in range(random.choice((1, 1, 1, 2)))]


def _message(random: Random) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if random.random() < 0.3:
        said["reasoning_content"] = _text(random)
    said["content"] = _text(random)
    if random.random() < 0.2:
        said["content"] = json.dumps({_text(random, ARGUMENTS): [_text(random, ARGUMENTS)]})
    if random.random() < 0.4:
        said["tool_calls"] = [_call(random, index) for index in range(random.randint(1, 2))]
    return said


def _text(random: Random, pieces: tuple[str, ...] = PIECES) -> str:
    return "".join(random.choices(pieces, k=random.randint(1, 4)))


def _call(random: Random, index: int) -> dict[str, Any]:
    arguments = json.dumps({"a": _text(random, ARGUMENTS), "b": [_text(random, ARGUMENTS)]})
    function = {"name": "f", "arguments": arguments}
    return {"id": f"t{index}", "type": "function", "function": function}


def _deltas(message: dict[str, Any], random: Random) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content"):
        deltas += [{key: piece} for piece in _cut(message.get(key, ""), random)]
    calls = []
    for index, call in enumerate(message.get("tool_calls", ())):
        begun = {"index": index, **call, "function": {"name": "f", "arguments": ""}}
        pieces = _cut(call["function"]["arguments"], random)
        calls.append([begun, *({"index": index, "function": {"arguments": p}} for p in pieces)])
    return deltas + [{"tool_calls": [piece]} for piece in _shuffled(calls, random)]


def _cut(text: str, random: Random) -> list[str]:
    size = random.choice((1, 2, 3, 8, 40))
    pieces = []
    while text:
        at = random.randint(1, size)
        pieces.append(text[:at])
        text = text[at:]
    return pieces


def _shuffled(rows: list[list[Any]], random: Random) -> list[Any]:
    """All of them, each row in its own order."""
    left, mixed = [list(row) for row in rows if row], []
    while left:
        row = random.choice(left)
        mixed.append(row.pop(0))
        left = [row for row in left if row]
    return mixed


def _stream(messages: list[dict[str, Any]], random: Random) -> list[Event]:
    rows = []
    for index, message in enumerate(messages):
        row = [delta(said, index) for said in _deltas(message, random)]
        last = delta({}, index, "tool_calls" if "tool_calls" in message else "stop")
        rows.append([*row, last])
    usage = chunk(msgspec.json.encode(HEAD | {"choices": [], "usage": {"prompt_tokens": 1}}))
    return [*_shuffled(rows, random), usage]


@pytest.mark.parametrize("content", ["mixed", "json"])
async def test_two_thousand_answers_are_restored_however_they_are_cut(content: Kind) -> None:
    random = Random(20261130 + len(content))
    for _ in range(1000):
        messages = _answer(random)
        stream = _stream(messages, random)
        told = await heard(*stream, content=content)
        chunks = [event for event in told if isinstance(event, Chunk)]
        assert [c.usage for c in chunks][-1] == chunks[-1].usage is not None
        wanted = parse((await heard(assemble(stream), content=content))[0].wire)  # type: ignore[arg-type]
        assert parse(assemble(chunks).wire)["choices"] == wanted["choices"]
        assert "".join(c.text for c in chunks) == wanted["choices"][0]["message"]["content"]
        _check_order(chunks, len(messages))
        for choice in wanted["choices"]:
            _check_values(choice["message"])


def _check_order(chunks: list[Chunk], choices: int) -> None:
    """Each choice ends once, and says nothing after."""
    over: set[int] = set()
    for event in chunks:
        for choice in parse(event.wire)["choices"]:
            assert choice["index"] not in over
            if choice["finish_reason"]:
                over.add(choice["index"])
    assert len(over) == choices


def _check_values(message: dict[str, Any]) -> None:
    for call in message.get("tool_calls") or ():
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    said = json.dumps(message, ensure_ascii=False)
    assert SECRET not in said
    assert "[EMAIL_1_x7k2]" not in said.replace("[[", "")
