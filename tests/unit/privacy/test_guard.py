"""How far a request may travel (R31, R32), wherever in it the data stand."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from hybridge.core.errors import RequestError
from hybridge.core.request import Clearance, Handling, Message, Request, Wish
from hybridge.privacy.config import PrivacyConfig
from hybridge.privacy.finding import Finding
from hybridge.privacy.guard import Guard, Screened
from hybridge.privacy.policy import Policy
from hybridge.privacy.scan import PIECE
from hybridge.privacy.sessions import PrivateSessions
from hybridge.testing.clock import ManualClock

ID = "11010519491231002X"
PHONE = "13800138000"


def turn(content: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def request(*turns: dict[str, Any], **body: Any) -> Request:
    return Request(
        id="1", model="auto", messages=(), body={"model": "auto", "messages": list(turns), **body}
    )


async def screen(asked: Request, action: Handling = "local_only", **types: Handling) -> Screened:
    return await Guard(Policy(action, types)).screen(asked)


ARGUMENTS = json.dumps({"to": "王", "id": ID})
HELLO = turn("hello")
FUNCTION = {"type": "function", "function": {"name": "find", "description": f"例如 {ID}"}}
TEXT_FILE = f"data:text/plain;base64,{base64.b64encode(f'身份证 {ID}'.encode()).decode()}"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked", "place"),
    [
        (request(turn(f"身份证号{ID}请保密")), "messages[0]"),
        (request(turn(f"客户{ID}", role="system"), HELLO), "messages[0]"),
        (request(turn(f"{ID}"), turn("ok", role="assistant"), HELLO), "messages[0]"),
        (request(HELLO, turn(f"你的号码是{ID}", role="assistant"), HELLO), "messages[1]"),
        (
            request(turn([{"type": "text", "text": "a"}, {"type": "text", "text": ID}])),
            "messages[0]",
        ),
        (
            request(
                HELLO,
                turn(None, "assistant", tool_calls=[{"function": {"arguments": ARGUMENTS}}]),
            ),
            "messages[1]",
        ),
        (request(HELLO, turn(ARGUMENTS, role="tool", tool_call_id="c1")), "messages[1]"),
        (request(turn("hi", name=f"u{ID}"[1:])), "messages[0]"),
        (request(turn([{"type": "file", "file": {"filename": f"{ID}.pdf"}}])), "messages[0]"),
        (request(turn([{"type": "file", "file": {"file_data": TEXT_FILE}}])), "messages[0]"),
        (request(HELLO, tools=[FUNCTION]), "tools[0]"),
        (request(HELLO, metadata={"customer": ID}), "metadata"),
        (request(HELLO, metadata={ID: "customer"}), "metadata"),
        (request(HELLO, user=ID), "user"),
        (request(HELLO, stop=[ID]), "stop[0]"),
        (request(HELLO, some_extension={"deep": [[{"er": ID}]]}), "body"),
    ],
)
async def test_it_is_found_wherever_it_stands(asked: Request, place: str) -> None:
    screened = await screen(asked)
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert f"CN_ID in {place}" in " ".join(screened.reasons)
    assert ID not in " ".join(screened.reasons)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "asked",
    [
        request(turn(json.dumps({"号码": PHONE}, ensure_ascii=True))),
        request(turn(json.dumps({"a": PHONE}).replace("1", "\\u0031"))),
        request(HELLO, metadata={"phone": int(PHONE)}),
        request(HELLO, metadata={"phone": float(PHONE)}),
        request(HELLO, metadata={"手机号码": "021-6234567"}),
    ],
)
async def test_json_hides_nothing(asked: Request) -> None:
    assert (await screen(asked)).request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
async def test_requests_without_a_body_of_turns_are_read_by_their_messages() -> None:
    asked = replace(request(), messages=(Message("user", PHONE),), body={"model": "auto"})
    assert (await screen(asked)).request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
async def test_strings_that_do_not_belong_together_are_not_read_together() -> None:
    asked = request(turn("1380013"), turn("8000"), seed=13800138000, max_tokens=13800138000)
    screened = await screen(asked)
    assert screened == Screened(asked)


@pytest.mark.anyio
async def test_pictures_are_left_alone_and_said_so() -> None:
    picture = base64.b64encode(bytes(range(256)) * 400).decode()
    url = {"url": f"data:image/png;base64,{picture}"}
    sound = {"data": picture, "format": "wav"}
    parts = [
        {"type": "image_url", "image_url": url},
        {"type": "input_audio", "input_audio": sound},
        {"type": "text", "text": f"![]({url['url']}) what is this?"},
    ]
    screened = await screen(request(turn(parts)))
    assert screened.request.clearance is Clearance.ANYWHERE
    assert screened.reasons == ("privacy: attachments not examined: 3",)


@pytest.mark.anyio
async def test_ordinary_requests_go_anywhere() -> None:
    asked = request(turn("Explain 二分查找 with code"), tools=[{"function": {"name": "run"}}])
    assert await screen(asked) == Screened(asked)


@pytest.mark.anyio
async def test_a_wish_for_privacy_is_granted_and_never_undone() -> None:
    asked = replace(request(HELLO), wish=Wish(private=True))
    for action in ("local_only", "allow"):
        screened = await screen(asked, action=action)
        assert screened.request.clearance is Clearance.DEVICE_ONLY
        assert screened.reasons == ("privacy: kept on this device at the caller's wish",)
    private = replace(request(HELLO), clearance=Clearance.DEVICE_ONLY)
    assert (await screen(private)).request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
async def test_the_policy_knows_exceptions_by_type() -> None:
    asked = request(turn("write to zhang.wei@corp.cn"))
    screened = await screen(asked, EMAIL="allow")
    assert screened.request.clearance is Clearance.ANYWHERE
    assert screened.reasons == ("privacy: allowed by the policy: EMAIL in messages[0]",)
    both = request(turn(f"write to zhang.wei@corp.cn, 手机{PHONE}"))
    assert (await screen(both, EMAIL="allow")).request.clearance is Clearance.DEVICE_ONLY
    strict = await screen(asked, action="allow", EMAIL="local_only")
    assert strict.request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
async def test_what_is_blocked_is_refused_without_its_value() -> None:
    with pytest.raises(RequestError) as error:
        await screen(request(HELLO, turn(f"卡号4111111111111111, 手机{PHONE}")), BANK_CARD="block")
    assert error.value.code == "privacy_blocked"
    assert error.value.param == "messages"
    assert "BANK_CARD in messages[1]" in error.value.message
    assert "4111" not in error.value.message


@pytest.mark.anyio
async def test_weak_signs_change_nothing_but_are_told() -> None:
    screened = await screen(request(turn("Dear Sarah Connor, hello")))
    assert screened.request.clearance is Clearance.ANYWHERE
    assert [finding.type for finding in screened.findings] == ["PERSON"]


@pytest.mark.anyio
async def test_a_detector_that_fails_keeps_the_request_here(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(text: str) -> Sequence[Finding]:
        raise ValueError(text)

    with caplog.at_level(logging.DEBUG):
        screened = await Guard(Policy(), detect=broken).screen(request(turn(f"{PHONE}")))
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert "check failed" in screened.reasons[0]
    assert PHONE not in caplog.text


@pytest.mark.anyio
async def test_depth_is_no_way_out() -> None:
    nested: Any = ID
    for _ in range(5000):
        nested = [nested]
    assert (
        await screen(request(HELLO, metadata=nested))
    ).request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
async def test_indexes_are_those_of_the_string_that_holds_the_value() -> None:
    text = f"手机{PHONE}"
    screened = await screen(request(turn("one"), turn(text)))
    (finding,) = screened.findings
    assert text[finding.start : finding.end] == PHONE
    assert finding.place == "messages[1]"


@pytest.mark.anyio
async def test_long_requests_are_examined_to_the_end() -> None:
    long = "字" * (4 * PIECE)
    screened = await screen(request(turn(long), turn(f"{long}手机{PHONE}")))
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert screened.findings[0].place == "messages[1]"


@pytest.mark.anyio
async def test_many_findings_make_a_short_reason() -> None:
    turns = [turn(f"手机{PHONE}") for _ in range(30)]
    (reason,) = (await screen(request(*turns))).reasons
    assert reason.endswith("PHONE in messages[7] and 22 more")


@pytest.mark.parametrize(
    ("wrong", "right"), [("EMIAL", "EMAIL"), ("email", "EMAIL"), ("id", "CN_ID")]
)
def test_an_unknown_type_is_named_with_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(ValidationError, match="did you mean") as error:
        PrivacyConfig(types={wrong: "allow"})
    if right != "CN_ID":
        assert f"did you mean `{right}`" in str(error.value)


@pytest.mark.anyio
async def test_each_key_has_its_own_policy() -> None:
    guard = Guard(Policy("allow"), {"strict": Policy("local_only")})
    asked = request(turn(f"手机{PHONE}"))
    assert (await guard.screen(asked)).request.clearance is Clearance.ANYWHERE
    strict = await guard.screen(replace(asked, tenant="strict"))
    assert strict.request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["allow", "pseudonymise", "local_only"])
async def test_a_header_tightens_and_never_loosens(action: Handling) -> None:
    asked = request(turn(f"手机{PHONE}"))
    local = replace(asked, wish=Wish(handling="local_only"))
    assert (await screen(local, action)).request.clearance is Clearance.DEVICE_ONLY
    with pytest.raises(RequestError, match="PHONE in messages"):
        await screen(replace(asked, wish=Wish(handling="block")), action)
    harmless = replace(request(HELLO), wish=Wish(handling="block"))
    assert (await screen(harmless, action)).request.clearance is Clearance.ANYWHERE


@pytest.mark.anyio
async def test_a_session_that_has_shown_personal_data_stays_here() -> None:
    sessions = PrivateSessions(60.0, ManualClock())
    guard = Guard(Policy(), sessions=sessions)

    async def clearance(asked: Request) -> Clearance:
        return (await guard.screen(asked)).request.clearance

    harmless = replace(request(HELLO), session="s")
    assert await clearance(harmless) is Clearance.ANYWHERE
    assert await clearance(replace(request(turn(f"手机{PHONE}")), session="s"))
    screened = await guard.screen(harmless)
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert "its session has shown personal data" in screened.reasons[0]
    assert await clearance(replace(harmless, session="t")) is Clearance.ANYWHERE
    wished = replace(harmless, session="u", wish=Wish(private=True))
    assert await clearance(wished) is Clearance.DEVICE_ONLY
    assert await clearance(replace(harmless, session="u")) is Clearance.ANYWHERE


@pytest.mark.anyio
async def test_what_cannot_be_examined_stays_here_where_the_policy_wants_it() -> None:
    picture = base64.b64encode(bytes(range(256)) * 400).decode()
    url = {"url": f"data:image/png;base64,{picture}"}
    asked = request(turn([{"type": "image_url", "image_url": url}]))
    kept = await Guard(Policy(unexamined="local_only")).screen(asked)
    assert kept.request.clearance is Clearance.DEVICE_ONLY
    with pytest.raises(RequestError, match="cannot be examined: 1"):
        await Guard(Policy(unexamined="block")).screen(asked)
    ids = await Guard(Policy(unexamined="local_only")).screen(request(HELLO), unreadable=2)
    assert ids.request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
async def test_a_detector_that_fails_may_block() -> None:
    def broken(text: str) -> Sequence[Finding]:
        raise ValueError(text)

    guard = Guard(Policy(on_detector_error="block"), detect=broken)
    with pytest.raises(RequestError) as error:
        await guard.screen(request(turn(PHONE)))
    assert error.value.code == "privacy_blocked"
    assert PHONE not in str(error.value)


@pytest.mark.anyio
async def test_what_cannot_be_disguised_stays_here() -> None:
    asked = request(turn("write to zhang.wei@corp.cn"))
    guard = Guard(Policy("pseudonymise"), pseudonymise=lambda _request, _findings: None)
    screened = await guard.screen(asked)
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert screened.reasons[-1].endswith("placeholders cannot stand for it")


@pytest.mark.anyio
async def test_a_session_that_nobody_named_is_not_remembered() -> None:
    sessions = PrivateSessions(60.0, ManualClock())
    guard = Guard(Policy(), sessions=sessions, is_named=lambda _request: False)
    await guard.screen(replace(request(turn(f"手机{PHONE}")), session="s"))
    screened = await guard.screen(replace(request(HELLO), session="s"))
    assert screened.request.clearance is Clearance.ANYWHERE
