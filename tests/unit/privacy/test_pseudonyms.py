"""What a request looks like to whoever is not on this device under `pseudonymise` (R31)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncGenerator
from functools import partial
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from hybridge.core.request import Clearance, Feature, Handling, Message, Request, Wish
from hybridge.core.response import Event
from hybridge.privacy.contents import contents
from hybridge.privacy.examine import values
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.guard import Guard, Screened
from hybridge.privacy.policy import Policy
from hybridge.privacy.pseudonyms.disguise import Pseudonyms
from hybridge.privacy.pseudonyms.note import Place, noted
from hybridge.privacy.pseudonyms.spellings import MOST
from hybridge.privacy.scan import detect
from hybridge.testing.backend import whole

pytestmark = pytest.mark.anyio

MAIL, PHONE, NAME, KEY = "zhang.wei@corp.cn", "13800138000", "王小明", "hunter2Xk9qLm"
CODE = re.compile(r"\{\{([A-Z_]+)_(\d+)_([a-z]\d[a-z]\d)\}\}")
HELLO = {"role": "user", "content": "hello"}


def turn(content: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def request(*turns: dict[str, Any], **body: Any) -> Request:
    messages = tuple(Message(t["role"], t["content"] or "") for t in turns if _is_text(t))
    body = {"model": "auto", "messages": list(turns), **body}
    return Request(id="1", model="auto", messages=messages, body=body)


def _is_text(said: dict[str, Any]) -> bool:
    return isinstance(said["content"], str | None)


async def screen(
    asked: Request, *, seed: int = 1, note: Place = "nowhere", **types: Handling
) -> Screened:
    guard = Guard(Policy("pseudonymise", types), pseudonymise=Pseudonyms(Random(seed), note=note))
    return await guard.screen(asked)


async def disguised(asked: Request, **more: Any) -> Request:
    screened = await screen(asked, **more)
    assert screened.request.clearance is Clearance.DISGUISED
    assert screened.request.disguise is not None
    assert screened.request.body == asked.body  # whoever is on this device sees the values
    return screened.request.disguise.request


def text_of(asked: Request) -> str:
    return json.dumps(asked.body, ensure_ascii=False)


ARGUMENTS = json.dumps({"to": MAIL, "who": NAME})
CALL = {"id": "c1", "type": "function", "function": {"name": "send", "arguments": ARGUMENTS}}
FORMED = {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}}
PARAMETERS = {
    "type": "object",
    "properties": {"to": {"type": "string", "description": f"e.g. {MAIL}", "default": MAIL}},
}
TOOL = {
    "type": "function",
    "function": {"name": "send", "description": f"to {MAIL}", "parameters": PARAMETERS},
}
SCHEMA = {"type": "object", "title": MAIL, "properties": {"to": {"type": "string"}}}


@pytest.mark.parametrize(
    "asked",
    [
        request(turn(f"write to {MAIL}, I said {MAIL}!")),
        request(turn(f"you serve {MAIL}", role="system"), HELLO),
        request(turn(MAIL), turn(f"to {MAIL.upper()}?", role="assistant"), HELLO),
        request(turn([{"type": "text", "text": MAIL}, {"type": "text", "text": MAIL}])),
        request(HELLO, turn(None, "assistant", tool_calls=[CALL]), turn(MAIL, "tool")),
        request(HELLO, turn(None, "assistant", function_call=CALL["function"])),
        request(HELLO, turn(ARGUMENTS, role="tool", tool_call_id="c1")),
        request(turn("hi", name=f"u-{MAIL}")),
        request(turn([{"type": "file", "file": {"filename": MAIL, "file_id": "f1"}}])),
        request(HELLO, tools=[TOOL]),
        request(
            turn(MAIL),
            tools=[{"type": "function", "function": {"name": "f", "parameters": FORMED}}],
        ),
        request(HELLO, functions=[TOOL["function"]]),
        request(HELLO, metadata={MAIL: [f"is {MAIL}"]}),
        request(HELLO, user=MAIL),
        request(HELLO, stop=[MAIL, "x"]),
        request(HELLO, prediction={"type": "content", "content": f"Dear {MAIL}"}),
        request(
            HELLO,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "n", "description": MAIL, "schema": SCHEMA},
            },
        ),
        request(HELLO, some_extension={"deep": [[{"er": MAIL}]]}),
        request(turn(f"１３８００１３８０００ 和 1\u200b3800138000，邮箱 {MAIL}")),
    ],
)
async def test_placeholders_stand_wherever_the_values_stood(asked: Request) -> None:
    sent = await disguised(asked)
    told = text_of(sent)
    for value in (MAIL, MAIL.upper(), NAME, PHONE, "１３８"):
        assert value not in told
        assert value not in sent.text
    mails = {code for code in CODE.findall(told) if code[0] == "EMAIL"}
    assert mails
    assert len({suffix for _, _, suffix in mails}) == 1
    assert len(CODE.findall(told)) >= 1
    assert [*json.loads(told)] == [*asked.body]
    arguments = (sent.body["messages"][1] if len(sent.body["messages"]) > 1 else {}).get(
        "tool_calls"
    )
    if arguments:
        assert set(json.loads(arguments[0]["function"]["arguments"])) == {"to", "who"}


ODD = 'sales "north" \\ gate'
VALUES = (MAIL, PHONE, "11010519491231002X", "021-62345678", "4111 1111 1111 1111", KEY)
WORDS = (
    *VALUES,
    *VALUES,
    f"mail {MAIL}",
    f"password: {KEY}",
    "{{EMAIL_1_b2c3}}",
    "你好",
    "\n",
    ODD,
    " ",
)


def _planted(random: Random, depth: int = 0) -> Any:
    kind = random.random() if depth < 3 else 1.0
    if kind < 0.3:
        keys = [_text(random) for _ in range(random.randint(0, 3))]
        return {key: _planted(random, depth + 1) for key in keys}
    if kind < 0.5:
        return [_planted(random, depth + 1) for _ in range(random.randint(0, 3))]
    if kind < 0.6:
        return json.dumps(_planted(random, 3), ensure_ascii=random.random() < 0.5)
    return random.choice((_text(random), _text(random), 7, None, True))


def _text(random: Random) -> str:
    return "".join(random.choices(WORDS, k=random.randint(1, 4)))


async def test_whatever_is_planted_anywhere_either_stays_here_or_comes_back_as_it_was() -> None:
    random, hidden = Random(31), 0
    for _ in range(200):
        turns = [turn(_text(random), random.choice(("user", "system", "assistant"))) for _ in "123"]
        asked = request(*turns, metadata=_planted(random), extension=_planted(random))
        screened = await screen(asked, seed=random.randint(1, 9))
        if screened.request.disguise is None:
            continue
        sent = screened.request.disguise.request
        told = text_of(sent) + json.dumps(sent.body) + sent.text
        if screened.request.clearance is Clearance.DISGUISED:
            hidden += 1
            found = {value.text for _, value in values(contents(asked), detect)}
            assert not any(value in told for value in VALUES if value in found)
            await _comes_back(screened.request, sent)
    assert hidden > 150


async def _comes_back(asked: Request, sent: Request) -> None:
    for before, after in zip(asked.body["messages"], sent.body["messages"], strict=True):
        echoed = whole(after["content"])

        async def answer(event: Event = echoed) -> AsyncGenerator[Event, None]:
            yield event

        assert asked.disguise is not None
        (event,) = [event async for event in asked.disguise.restored(answer())]
        if "SECRET" not in after["content"]:
            assert event.text == before["content"]
        elif KEY not in after["content"]:  # an unmarked one may stand there as well
            assert KEY not in event.text


async def test_the_same_value_has_the_same_placeholder_and_another_has_another() -> None:
    prompt = f"{MAIL} or li@corp.cn? {MAIL}! Call {PHONE}"
    sent = await disguised(request(turn(prompt), turn(f"{PHONE}?", "assistant"), HELLO))
    one, two, again, phone = CODE.findall(sent.body["messages"][0]["content"])
    assert one == again != two
    assert (one[:2], two[:2], phone[:2]) == (("EMAIL", "1"), ("EMAIL", "2"), ("PHONE", "3"))
    assert CODE.findall(sent.body["messages"][1]["content"]) == [phone]
    assert [m.text for m in sent.messages] == [m["content"] for m in sent.body["messages"]]
    other = await disguised(request(turn(prompt)), seed=2)
    assert CODE.findall(text_of(other))[0][2] != one[2]


async def test_what_no_detector_would_report_on_its_own_is_hidden_too() -> None:
    asked = request(
        turn("QQ号：987654321, my name is Laura Bennett"),
        turn("987654321? 987-654-321? xLaura  bennett?", "assistant"),
        turn("yes"),
    )
    assert not detect("987654321? 987-654-321? xLaura  bennett?")
    told = text_of(await disguised(asked))
    assert not re.search(r"654|(?i:laura)|(?i:bennett)", told)


async def test_a_suffix_that_the_request_holds_already_is_not_drawn() -> None:
    first = CODE.findall(text_of(await disguised(request(turn(MAIL)))))[0][2]
    asked = request(turn(f"{MAIL} EMAIL_1_{first.upper()}"))
    sent = text_of(await disguised(asked))
    assert f"EMAIL_1_{first.upper()}" in sent
    assert {suffix for _, _, suffix in CODE.findall(sent)} - {first} != set()
    assert MAIL not in sent


BLOB = base64.b64encode(f"mail {MAIL} now".encode()).decode()
IMAGE = {"type": "image_url", "image_url": {"url": f"https://a.b/?to={MAIL}"}}
SIGNED = [{"type": "thinking", "thinking": MAIL, "signature": "s"}]


ANSWER = {"type": "json_schema", "json_schema": {"name": "n", "schema": FORMED}}


def _tool(**parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "send", "parameters": parameters}}


@pytest.mark.parametrize(
    "asked",
    [
        request(turn(f"decode {BLOB}")),
        request(turn("to zhang.wei%40corp%2Ecn please, zhang%2Ewei%40corp%2Ecn")),
        request(turn([IMAGE, {"type": "text", "text": MAIL}])),
        request(turn([{"type": "image_url", "image_url": IMAGE["image_url"]["url"]}])),
        request(turn([{"type": "file", "file": {"file_data": f"data:text/plain;base64,{BLOB}"}}])),
        request(turn(json.dumps({"a": PHONE}).replace("3", "\\u0033"))),
        request(HELLO, metadata={"phone": int(PHONE)}),
        request(turn(PHONE), seed=int(PHONE)),
        request(HELLO, tools=[_tool(properties={MAIL: {}})]),
        request(HELLO, tools=[_tool(properties={"to": {"enum": [MAIL]}})]),
        request(HELLO, tools=[_tool(properties={"to": {"pattern": MAIL}})]),
        request(HELLO, tools=[{"type": "function", "function": {"name": MAIL}}]),
        request(turn(MAIL), response_format=ANSWER),
        request(
            turn(MAIL),
            tools=[
                {
                    "type": "function",
                    "function": {"name": "f", "parameters": FORMED, "strict": True},
                }
            ],
        ),
        request(turn(MAIL), turn([{"type": "text", "text": x} for x in ("zhang.wei@", "corp.cn")])),
        request(turn(MAIL), turn("k", "tool", tool_call_id=MAIL)),
        request(turn(MAIL), turn("k", "assistant", thinking_blocks=SIGNED), HELLO),
        request(turn(" ".join(f"zhang{n}@corp.cn" for n in range(MOST + 1)))),
    ],
)
async def test_what_cannot_be_replaced_stays_here(asked: Request) -> None:
    screened = await screen(asked)
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert screened.request.disguise is None
    told = " ".join(screened.reasons)
    assert "placeholders cannot stand for it" in told
    assert "pseudonymised" not in told
    assert MAIL not in told


async def test_a_secret_goes_out_as_a_placeholder_too() -> None:
    sent = await disguised(request(turn(f"password: {KEY}, mail {MAIL}")))
    assert KEY not in text_of(sent)
    assert {kind for kind, _, _ in CODE.findall(text_of(sent))} == {"SECRET", "EMAIL"}


async def test_types_that_are_allowed_stay_as_they_are() -> None:
    sent = await disguised(request(turn(f"{MAIL}, {PHONE}")), EMAIL="allow")
    assert MAIL in text_of(sent)
    assert PHONE not in text_of(sent)


async def test_something_stricter_beside_it_keeps_all_of_it_here() -> None:
    screened = await screen(request(turn(f"{MAIL}, {PHONE}")), PHONE="local_only")
    assert screened.request.clearance is Clearance.DEVICE_ONLY


async def test_a_caller_may_ask_for_it_where_the_policy_would_let_it_go() -> None:
    guard = Guard(Policy("allow"), pseudonymise=Pseudonyms(Random(1)))
    asked = replace(request(turn(MAIL)), wish=Wish(handling="pseudonymise"))
    screened = await guard.screen(asked)
    assert screened.request.clearance is Clearance.DISGUISED
    assert MAIL not in text_of(screened.request.disguise.request)  # type: ignore[union-attr]


async def test_whoever_fails_at_it_keeps_the_request_here(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: Any) -> None:
        raise ValueError(MAIL)

    screened = await Guard(Policy("pseudonymise"), pseudonymise=broken).screen(request(turn(MAIL)))
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert "pseudonymising failed: ValueError" in caplog.text
    assert MAIL not in caplog.text


async def test_the_detector_looks_once_more_at_what_would_go_out() -> None:
    def second_thoughts(text: str, word: str = "hello") -> list[Finding]:
        at = text.find(word) if MAIL not in text else -1
        end = at + len(word)
        return [*detect(text), *([Finding("PERSON", at, end, Level.HIGH)] if at >= 0 else [])]

    asked = request(turn(f"hello {MAIL}"))
    guard = Guard(Policy("pseudonymise"), detect=second_thoughts, pseudonymise=Pseudonyms())
    screened = await guard.screen(asked)
    assert screened.request.disguise is not None
    assert "hello" not in text_of(screened.request.disguise.request)
    look = partial(second_thoughts, word="user")  # a role, which cannot be replaced
    guard = Guard(Policy("pseudonymise"), detect=look, pseudonymise=Pseudonyms())
    assert (await guard.screen(asked)).request.clearance is Clearance.DEVICE_ONLY


async def test_a_detector_may_take_a_placeholder_or_a_part_of_one_for_something() -> None:
    def names(text: str) -> list[Finding]:
        found = re.search(r"EMAIL_\d", text) or re.search(r"\{\{.*\}\}", text)
        return [*detect(text), *([Finding("PERSON", *found.span(), Level.HIGH)] if found else [])]

    guard = Guard(Policy("pseudonymise"), detect=names, pseudonymise=Pseudonyms())
    for prompt in (MAIL, f"{PHONE}, 13900139000"):
        screened = await guard.screen(request(turn(prompt)))
        assert screened.request.clearance is Clearance.DISGUISED


async def test_what_stands_for_what_is_gone_with_the_request() -> None:
    sent = await disguised(request(turn(f"{MAIL} {PHONE}")))
    assert CODE.search(text_of(sent))
    remembered = repr(vars(re)["_cache"])
    assert MAIL not in remembered.replace("\\", "")
    assert "zhang" not in remembered


async def test_a_request_that_stays_here_anyway_is_not_said_to_be_disguised() -> None:
    asked = replace(request(turn(MAIL)), wish=Wish(private=True))
    screened = await screen(asked)
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert "pseudonym" not in " ".join(screened.reasons)
    assert "placeholders" not in " ".join(screened.reasons)


async def test_long_requests_are_disguised_as_well() -> None:
    sent = await disguised(request(turn(f"{MAIL} and {'words ' * 20_000} {PHONE}")))
    assert len(CODE.findall(text_of(sent))) == 2


@pytest.mark.parametrize(
    ("turns", "place", "roles"),
    [
        ([HELLO], "system", ["system", "user"]),
        ([turn("be kind", "system"), HELLO], "system", ["system", "user"]),
        (
            [turn([{"type": "text", "text": "a"}], "developer"), HELLO],
            "system",
            ["developer", "user"],
        ),
        ([HELLO, turn("ok", "assistant")], "last_turn", ["user", "assistant"]),
        ([HELLO], "nowhere", ["user"]),
    ],
)
def test_the_note_joins_what_is_there(turns: list[Any], place: Place, roles: list[str]) -> None:
    body = noted({"messages": turns}, "{{EMAIL_1_x7k2}}", place)
    assert [said["role"] for said in body["messages"]] == roles
    assert json.dumps(body).count("{{EMAIL_1_x7k2}}") == (place != "nowhere")
    assert all(json.dumps(said["content"])[2:-2] in json.dumps(body) for said in turns)


async def test_what_else_a_request_is_stays_the_same() -> None:
    asked = replace(
        request(turn(MAIL), stream=True, n=2, temperature=0.5),
        stream=True,
        features=frozenset({Feature.CHOICES}),
        session="s",
    )
    sent = await disguised(asked)
    assert replace(sent, body={}, messages=()) == replace(asked, body={}, messages=())
    unchanged = {"model": "auto", "stream": True, "n": 2, "temperature": 0.5}
    assert {k: v for k, v in sent.body.items() if k != "messages"} == unchanged
