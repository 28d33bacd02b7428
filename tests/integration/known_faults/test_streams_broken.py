"""Streams that break: nobody takes half an answer for a whole one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.integration.known_faults.common import BACKENDS, PATIENT, chat, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    EVERY_SHAPE,
    SHAPES_WITH_TOOLS,
    asking,
    told,
    tools_of,
)

from hybridge.testing.http import ask, read, sent
from hybridge.testing.replies import END, Cut, Reply, cut, fails, framed, page, raw, says, streams

pytestmark = pytest.mark.anyio
CONFIG = {
    "execution": PATIENT,
    "routing": {"fallbacks": {"e": ["c"]}},
    "cache": {"ttl_s": 300},
}
SAID = "one two three"
WORDS = says(f"{SAID} four five", logprob=-0.02)
IN_BAND = b'data: {"error": {"message": "out of memory", "type": "server_error", "code": 500}}\n\n'
BARE = b'data: {"object": "error", "message": "out of memory", "type": "Internal", "code": 500}\n\n'
ENDS = {
    "reset": Cut.RESET,
    "close": Cut.CLOSE,
    "no finish": END,
    "no finish, done": framed(b"data: [DONE]\n\n") + END,
    "in band": framed(IN_BAND) + END,
    "in band, done": framed(IN_BAND) + framed(b"data: [DONE]\n\n") + END,
    "in band, bare": framed(BARE) + END,
    "no JSON": framed(b'data: {"choices": [{"del\n\n') + END,
    "half an event": framed(b'data: {"choices": [{"index": 0, "delta": {"content": " fo') + END,
}
HEAD = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def delta(**members: Any) -> Mapping[str, Any]:
    return HEAD | {"choices": [{"index": 0, "delta": members, "finish_reason": None}]}


def calling(_: Any) -> Any:
    def of(function: dict[str, str], **more: Any) -> Mapping[str, Any]:
        return delta(tool_calls=[{"index": 0, "function": function, **more}])

    first = of({"name": "weather", "arguments": ""}, id="call_1", type="function")
    rest = [of({"arguments": piece}) for piece in ('{"ci', 'ty": "Osl', 'o"}')]
    return streams(delta(role="assistant"), first, *rest)(_)


async def failures(gateway: Any) -> int:
    """How many requests count as failed by now."""
    shown = (await gateway.get("/metrics")).raw.decode()
    lines = [line for line in shown.splitlines() if line.startswith("hybridge_requests_total")]
    return sum(int(float(line.split()[-1])) for line in lines if 'outcome="failed"' in line)


@pytest.mark.fault("B04")
@BACKENDS
@pytest.mark.parametrize("end", ENDS)
@EVERY_SHAPE
async def test_what_breaks_ends_with_one_error_and_no_invented_end(scene, path, end, model):
    before = await failures(scene.gateway)
    reply = cut(WORDS, after=3, end=ENDS[end])
    scene.edge.then(reply)
    scene.cloud.then(reply)
    got = await ask(port_of(scene.gateway), path, asking(path, stream=True, model=model))
    said = told(path, got)
    assert (got.status, said.text, said.ending) == (200, SAID, None)
    assert b"[DONE]" not in got.body
    [error] = said.errors
    assert error["message"]
    assert error["type"]
    assert error.get("code") or error["details"]["error_code"]
    assert await failures(scene.gateway) == before + 1


@pytest.mark.fault("B04")
@BACKENDS
@pytest.mark.parametrize("end", [Cut.RESET, Cut.CLOSE, END, ENDS["in band"]], ids=str)
@SHAPES_WITH_TOOLS
async def test_a_call_cut_in_its_arguments_is_no_call(scene, path, end, model):
    reply = cut(calling, after=2, end=end)
    scene.edge.then(reply)
    scene.cloud.then(reply)
    body = asking(path, stream=True, model=model, tools=tools_of(path, "weather"))
    said = told(path, await ask(port_of(scene.gateway), path, body))
    assert said.ending is None
    assert len(said.errors) == 1


@pytest.mark.fault("B04")
@pytest.mark.parametrize("end", ENDS)
async def test_a_broken_answer_is_not_cached(scene, end):
    """Only edge answers are kept; the judge is satisfied before the break."""
    question = f"Correct the spelling: waht is {end}"
    scene.edge.then(cut(says("yes " * 60, logprob=-0.02), after=50, end=ENDS[end]))
    broken = await ask(port_of(scene.gateway), CHAT, chat(question, stream=True))
    assert len(told(CHAT, broken).errors) == 1
    scene.edge.then(WORDS)
    again = await ask(port_of(scene.gateway), CHAT, chat(question, stream=True))
    assert told(CHAT, again).text == f"{SAID} four five"
    assert len(scene.edge.posts) == 2
    kept = await ask(port_of(scene.gateway), CHAT, chat(question, stream=True))
    assert told(CHAT, kept).text == f"{SAID} four five"
    assert len(scene.edge.posts) == 2


NOTHING_YET: dict[str, Reply] = {
    "reset": cut(WORDS, after=-2, end=Cut.RESET),
    "head, then reset": cut(WORDS, after=-1, end=Cut.RESET),
    "role, then reset": cut(WORDS, after=0, end=Cut.RESET),
    "role, then closed": cut(WORDS, after=0, end=END),
    "empty stream": streams(),
    "error first": streams(IN_BAND),
    "page": page(200),
    "500": fails(500),
}


@pytest.mark.fault("B04")
@pytest.mark.parametrize("how", NOTHING_YET)
@EVERY_SHAPE
async def test_before_anything_was_sent_another_answers(scene, path, how):
    scene.edge.then(NOTHING_YET[how])
    scene.cloud.then(says("From the cloud."))
    got = await ask(port_of(scene.gateway), path, asking(path, stream=True, model="e"))
    said = told(path, got)
    assert (got.status, said.text, said.ending, said.errors) == (200, "From the cloud.", "stop", [])
    assert got.headers["x-hybridge-route"] == "cloud_fallback"


@pytest.mark.fault("B04")
@pytest.mark.parametrize("how", NOTHING_YET)
@EVERY_SHAPE
async def test_before_anything_was_sent_a_failure_is_a_real_one(scene, path, how):
    scene.cloud.then(NOTHING_YET[how])
    got = await ask(port_of(scene.gateway), path, asking(path, stream=True, model="c"))
    assert got.status >= 500
    assert got.headers["content-type"] == "application/json"
    assert got.json["error"]["message"]


@pytest.mark.fault("B04")
@pytest.mark.parametrize("end", ENDS)
async def test_a_judged_answer_that_breaks_while_held_is_never_mixed_with_another(scene, end):
    scene.edge.then(cut(WORDS, after=3, end=ENDS[end]))
    scene.cloud.then(says("From the cloud."))
    got = await ask(port_of(scene.gateway), CHAT, chat(f"Correct the spelling: {end}", stream=True))
    said = told(CHAT, got)
    assert (said.text, said.errors, said.ending) == ("From the cloud.", [], "stop")
    assert len(scene.edge.posts) == len(scene.cloud.posts) == 1


WHOLES: dict[str, Reply] = {
    "cut short": lambda _: iter((b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{", Cut.CLOSE)),
    "no JSON": raw(b'{"choices": [{"mess'),
    "error": raw(b'{"error": {"message": "out of memory", "code": 500}}'),
    "no choice": raw(b'{"id": "x", "choices": []}'),
}


@pytest.mark.fault("B04")
@BACKENDS
@pytest.mark.parametrize("how", WHOLES)
@EVERY_SHAPE
async def test_a_whole_answer_that_breaks_is_an_error(scene, path, how, model):
    scene.edge.then(WHOLES[how])
    scene.cloud.then(WHOLES[how])
    got = await ask(port_of(scene.gateway), path, asking(path, model=model))
    assert got.status >= 500
    assert got.json["error"]["message"]


@pytest.mark.fault("B04")
@BACKENDS
async def test_the_connection_serves_the_next_request(scene, model):
    reply = cut(WORDS, after=3, end=Cut.RESET)
    scene.edge.then(reply)
    scene.cloud.then(reply)
    async with sent(port_of(scene.gateway), body=chat(stream=True, model=model)) as (
        reader,
        writer,
    ):
        assert len(told(CHAT, await read(reader)).errors) == 1
        writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
        assert (await read(reader)).status == 200
