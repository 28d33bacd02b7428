"""Personal data: found wherever they stand, and nothing else is taken for them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of
from tests.integration.known_faults.scenes import between_these

from hybridge.privacy.finding import Level
from hybridge.privacy.scan import detect
from hybridge.testing.http import ask

pytestmark = pytest.mark.anyio

ALL_FEATURES = ["tools", "json", "json_schema", "images", "audio", "files", "logprobs", "choices"]
VALUES = {
    "id": ("身份证号11010519491231002X请保密", "CN_ID", "11010519491231002X"),
    "lower case x": ("证件11010519491231002x勿外传", "CN_ID", "11010519491231002x"),
    "bare id": ("号11010519491231002X的人", "CN_ID", "11010519491231002X"),
    "phone": ("手机13800138000找我", "PHONE", "13800138000"),
    "card": ("卡号4111111111111111余额多少", "BANK_CARD", "4111111111111111"),
    "bare card": ("请查6222021234567890128的余额", "BANK_CARD", "6222021234567890128"),
}


@pytest.fixture(scope="module")
async def shared(tmp_path_factory, anyio_backend):
    """An edge that can do everything, so that only privacy keeps a request on it."""
    folder = tmp_path_factory.mktemp("gateway")
    async with between_these(folder, edge={"features": ALL_FEATURES}) as pair:
        yield pair


def calls(arguments: str) -> list[Any]:
    function = {"name": "look_up", "arguments": arguments}
    return [{"id": "call_1", "type": "function", "function": function}]


def turns(*said: dict[str, Any]) -> dict[str, Any]:
    return {"model": "auto", "messages": [*said, {"role": "user", "content": "And now?"}]}


def after_tool(arguments: str, result: Any) -> dict[str, Any]:
    return turns(
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": None, "tool_calls": calls(arguments)},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    )


def escaped(text: str) -> str:
    """Every character as \\uXXXX."""
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def attached(name: str) -> dict[str, Any]:
    data = "data:application/pdf;base64," + base64.b64encode(b"%PDF-1.4\x00\xff").decode()
    return {"type": "file", "file": {"filename": name, "file_data": data}}


PLACES: Mapping[str, Callable[[str], Any]] = {
    "last turn": chat,
    "system text": lambda text: turns({"role": "system", "content": f"你是助手。{text}"}),
    "developer text": lambda text: turns({"role": "developer", "content": text}),
    "earlier turn": lambda text: turns(
        {"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}
    ),
    "assistant turn": lambda text: turns(
        {"role": "user", "content": "Hi"}, {"role": "assistant", "content": text}
    ),
    "tool arguments": lambda text: after_tool(json.dumps({"q": text}, ensure_ascii=False), "-"),
    "escaped arguments": lambda text: after_tool(json.dumps({"q": text}), "-"),
    "tool result": lambda text: after_tool("{}", text),
    "tool result as json": lambda text: after_tool("{}", json.dumps({"rows": [{"v": text}]})),
    "tool result in parts": lambda text: after_tool("{}", [{"type": "text", "text": text}]),
    "parts array": lambda text: {
        "model": "auto",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": text}],
            }
        ],
    },
    "escaped body": lambda text: (
        f'{{"model":"auto","messages":[{{"role":"user","content":"{escaped(text)}"}}]}}'.encode()
    ),
    "file name": lambda text: {
        "model": "auto",
        "messages": [{"role": "user", "content": [attached(f"{text}.pdf")]}],
    },
    "tool description": lambda text: {
        **chat("Hi"),
        "tools": [{"type": "function", "function": {"name": "f", "description": text}}],
    },
    "long turn": lambda text: chat("字" * 20_000 + text + "字" * 20_000),
}


@pytest.mark.fault("B41")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES)
async def test_personal_data_beside_chinese_stay_here_wherever_they_stand(scene, value, place):
    text, kind, secret = VALUES[value]
    body = PLACES[place](text)
    got = await ask(port_of(scene.gateway), body=body)
    assert got.status == 200, got.body
    account = got.json["hybridge"]
    assert account["route"] == "edge_private", account["reasons"]
    assert any(kind in reason for reason in account["reasons"]), account["reasons"]
    assert secret not in json.dumps(account, ensure_ascii=False)
    assert (len(scene.edge.posts), scene.cloud.posts) == (1, [])


@pytest.mark.fault("B41")
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("model", ["auto", "c"])
@BOTH_WAYS
async def test_nor_do_they_leave_in_a_stream_or_for_a_named_cloud(scene, value, model, stream):
    got = await ask(port_of(scene.gateway), body=chat(VALUES[value][0], model=model, stream=stream))
    if model == "auto":
        assert (got.status, got.headers["x-hybridge-route"]) == (200, "edge_private")
    else:
        assert (got.status, got.json["error"]["code"]) == (422, "privacy_no_local_path")
    assert scene.cloud.posts == []


OTHER_SURFACES: Mapping[str, Callable[[str], tuple[str, Any]]] = {
    "messages": lambda text: (
        "/v1/messages",
        {"max_tokens": 50, "messages": [{"role": "user", "content": text}]},
    ),
    "messages system": lambda text: (
        "/v1/messages",
        {"max_tokens": 50, "system": text, "messages": [{"role": "user", "content": "Hi"}]},
    ),
    "messages tool result": lambda text: (
        "/v1/messages",
        {
            "max_tokens": 50,
            "messages": [
                {"role": "user", "content": "Hi"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t1", "content": text}],
                },
            ],
        },
    ),
    "responses": lambda text: ("/v1/responses", {"input": text}),
    "responses instructions": lambda text: (
        "/v1/responses",
        {"input": "Hi", "instructions": text},
    ),
    "completions": lambda text: ("/v1/completions", {"prompt": text}),
}


@pytest.mark.fault("B41")
@BOTH_WAYS
@pytest.mark.parametrize("surface", OTHER_SURFACES)
@pytest.mark.parametrize("value", ["id", "phone", "card"])
async def test_the_other_surfaces_keep_them_too(scene, surface, value, stream):
    path, body = OTHER_SURFACES[surface](VALUES[value][0])
    got = await ask(port_of(scene.gateway), path, {"model": "auto", "stream": stream, **body})
    assert (got.status, got.headers["x-hybridge-route"]) == (200, "edge_private")
    assert scene.cloud.posts == []


def found(text: str) -> list[tuple[str, str]]:
    return [(f.type, text[f.start : f.end]) for f in detect(text) if f.level >= Level.MEDIUM]


@pytest.mark.fault("B41")
@pytest.mark.parametrize(
    "around", ["{}", "前{}后", "甲乙丙{}。", "😀{}😀", "　{}　", "\u200b字{}字"]
)
@pytest.mark.parametrize("value", VALUES)
def test_the_span_is_exactly_the_value(value, around):
    text, kind, secret = VALUES[value]
    assert found(around.format(text)) == [(kind, secret)]


@pytest.mark.fault("B41")
@pytest.mark.parametrize("digit", "0123456789")
async def test_a_number_with_a_wrong_check_digit_is_no_id(scene, digit):
    got = await ask(
        port_of(scene.gateway), "/v1/route", chat(f"编码11010519491231002{digit}请保密")
    )
    assert not any("privacy" in reason for reason in got.json["reasons"])


CLEAN = json.loads(Path(__file__).with_name("clean_prompts.json").read_text(encoding="utf-8"))


@pytest.mark.fault("B42")
async def test_ordinary_numbers_and_words_are_free_to_go(scene):
    prompts = CLEAN["shapes"] + CLEAN["other"]
    flagged = []
    for prompt in prompts:
        got = await ask(port_of(scene.gateway), "/v1/route", chat(prompt))
        assert got.status == 200
        if any(reason.startswith("privacy") for reason in got.json["reasons"]):
            flagged.append((prompt, got.json["reasons"]))
    print(f"flagged: {len(flagged)} of {len(prompts)} clean prompts")
    assert len(prompts) >= 50
    assert [prompt for prompt, _ in flagged if prompt in CLEAN["shapes"]] == []
    assert len(flagged) <= 0.04 * len(prompts), flagged


@pytest.mark.fault("B42")
@pytest.mark.parametrize("value", VALUES)
async def test_the_decision_names_the_kind_and_never_the_value(scene, value):
    text, kind, secret = VALUES[value]
    got = await ask(port_of(scene.gateway), "/v1/route", chat(text))
    assert got.json["route"] == "edge_private"
    assert any(f"{kind} in messages[0]" in reason for reason in got.json["reasons"])
    assert secret.encode() not in got.body


@pytest.mark.fault("B42")
@pytest.mark.parametrize(
    ("address", "route"), [("ann@example.org", "edge_private"), ("noreply@example.com", None)]
)
async def test_machines_have_no_private_address_and_the_policy_decides_on_others(
    scene, pair, address, route
):
    prompt = chat(f"Prove that {address} is a well-formed address.")
    got = await ask(port_of(scene.gateway), "/v1/route", prompt)
    assert (got.json["route"] == "edge_private") == (route == "edge_private")
    if route:
        async with pair(privacy={"types": {"EMAIL": "allow"}}) as p:
            got = await ask(port_of(p.gateway), "/v1/route", prompt)
        assert got.json["tier"] == "cloud"
        assert any("allowed by the policy: EMAIL" in reason for reason in got.json["reasons"])
