"""Errors: whose fault it was is told by the status, and the body can be read by a client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.integration.known_faults.common import BACKENDS, BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    ALL,
    CHAT,
    EVERY_SHAPE,
    MESSAGES,
    RESPONSES,
    TEXTS,
    asking,
)

from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Reply, fails, hangs, page, raw, says

pytestmark = pytest.mark.anyio
CONFIG = {"execution": PATIENT}
OURS = {502, 503, 504}
SECRET = "Traceback (most recent call last): File app.py"

UPSTREAM: Mapping[str, tuple[Reply, set[int]]] = {
    "400": (fails(400, "bad temperature", type="invalid_request_error"), {400}),
    "401": (fails(401, "Incorrect API key"), OURS),
    "402": (fails(402, "Insufficient Balance"), OURS),
    "403": (fails(403, "not in your region"), OURS),
    "404": (fails(404, "no such model"), {404}),
    "405": (fails(405, "Method Not Allowed"), {405} | OURS),
    "413": (fails(413, "too large"), {413}),
    "422": (fails(422, "not valid"), {400, 422}),
    "429": (fails(429, "slow down"), {429}),
    "500": (fails(500, "oops"), OURS),
    "502": (fails(502, "oops"), OURS),
    "503": (fails(503, "oops"), OURS),
    "529": (fails(529, "overloaded"), OURS | {529}),
    "redirect": (raw(b"", 302, {"location": "https://example.com/login"}), OURS),
    "no JSON": (raw(b'{"choices": [{"message": {"content": "Hel'), OURS),
    "other JSON": (raw(b'["hello"]'), OURS),
    "empty": (raw(b""), OURS),
    "page under 200": (page(200), OURS),
    "page under 400": (page(400), {400}),
    "page under 403": (page(403), OURS),
    "page under 404": (page(404), {404}),
    "page under 429": (page(429), {429}),
    "page under 500": (page(500), OURS),
    "page under 502": (page(502), OURS),
    "trace under 500": (raw(SECRET.encode(), 500, {"content-type": "text/plain"}), OURS),
    "detail under 422": (
        raw(b'{"detail": [{"loc": ["body", "n"], "msg": "no"}]}', 422),
        {400, 422},
    ),
}
HUNG = hangs()


def readable(path: str, got: Got) -> Mapping[str, Any]:
    """The error object; the body must be JSON of the vocabulary's own form, without a leak."""
    assert got.headers["content-type"].startswith("application/json"), got.body
    for leak in (b"<html", b"Traceback", b"nginx", b".py"):
        assert leak not in got.body
    error = got.json["error"]
    assert error["message"]
    assert error["type"]
    if path == MESSAGES:
        assert got.json["type"] == "error"
    else:
        assert error.keys() >= {"message", "type", "param", "code"}
    return error


@pytest.mark.fault("B19")
@BOTH_WAYS
@BACKENDS
@pytest.mark.parametrize("how", UPSTREAM)
@EVERY_SHAPE
async def test_what_an_upstream_answers_is_told_as_what_it_is(scene, path, how, model, stream):
    reply, statuses = UPSTREAM[how]
    scene.edge.then(reply)
    scene.cloud.then(reply)
    got = await ask(port_of(scene.gateway), path, asking(path, model=model, stream=stream))
    readable(path, got)
    assert got.status in statuses, got.body
    assert got.status != 401


@pytest.mark.fault("B19")
async def test_one_that_hangs_is_a_timeout(pair):
    """All of them at once, for each takes as long as the deadline."""
    async with pair(execution={"deadline_s": 2.0, "breaker_failures": 1000}) as p:
        p.edge.then(HUNG)
        p.cloud.then(HUNG)
        ways = [(path, m, s) for path in ALL for m in "ec" for s in (False, True)]
        answers = await asyncio.gather(
            *(
                ask(port_of(p.gateway), path, asking(path, model=model, stream=stream))
                for path, model, stream in ways
            )
        )
    for (path, *_), got in zip(ways, answers, strict=True):
        readable(path, got)
        assert got.status == 504, got.body


NONE: dict[str, Any] = {
    CHAT: {"messages": []},
    MESSAGES: {"messages": [], "max_tokens": 9},
    RESPONSES: {"input": []},
    TEXTS: {"prompt": []},
}


@pytest.mark.fault("B19")
@BOTH_WAYS
@EVERY_SHAPE
async def test_the_callers_own_faults_are_told_as_such(scene, path, stream):
    port = port_of(scene.gateway)
    more = {"stream": True} if stream else {}
    for body in (b"{", b"", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"model": NaN}'):
        got = await ask(port, path, body)
        assert got.status == 400, body
        readable(path, got)
    for asked in (NONE[path], {}, dict.fromkeys(NONE[path]), {"messages": "Hi", "input": 7}):
        got = await ask(port, path, {"model": "c", **more, **asked})
        assert got.status == 400, asked
        readable(path, got)
    got = await ask(port, path, asking(path, model="nobody", stream=stream))
    error = readable(path, got)
    assert got.status == 404
    assert "nobody" in error["message"]
    assert not scene.edge.posts + scene.cloud.posts


@pytest.mark.fault("B19")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
@EVERY_SHAPE
async def test_a_wrong_method_is_405_and_names_the_right_one(scene, path, method):
    got = await ask(port_of(scene.gateway), path, method=method)
    readable(path, got)
    assert (got.status, got.headers["allow"]) == (405, "POST")


@pytest.mark.fault("B19")
@pytest.mark.parametrize("path", ["/", "/v1", "/v1/chat", "/v2/chat/completions", "/v1//models"])
async def test_a_wrong_path_is_404(scene, path):
    for method in ("GET", "POST"):
        got = await ask(port_of(scene.gateway), path, {}, method=method)
        readable(path, got)
        assert got.status == 404


@pytest.mark.fault("B19")
@BOTH_WAYS
@EVERY_SHAPE
async def test_a_body_that_is_too_large_is_413(scene, path, stream):
    body = asking(path, "x" * (17 * 2**20), model="c", stream=stream)
    got = await ask(port_of(scene.gateway), path, body)
    readable(path, got)
    assert got.status == 413


@pytest.mark.fault("B19")
@BOTH_WAYS
@BACKENDS
@EVERY_SHAPE
async def test_after_all_that_it_still_answers(scene, path, model, stream):
    scene.edge.then(says("Well."))
    scene.cloud.then(says("Well."))
    got = await ask(port_of(scene.gateway), path, asking(path, model=model, stream=stream))
    assert got.status == 200
