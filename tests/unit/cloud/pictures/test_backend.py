"""A backend that is shown pictures, and one that asks an upstream."""

from __future__ import annotations

import asyncio
import base64
import copy
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from tests.unit.cloud.pictures.scene import PNG, asking, response, soon, urls_in

from hybridge.cloud.anthropic.dialect import HEADERS, Messages
from hybridge.cloud.chat_completions import ChatCompletions
from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.http_backend import HttpBackend
from hybridge.cloud.pictures.backend import KeptHome, Shown
from hybridge.cloud.transport import Transport
from hybridge.core.assembly import assemble
from hybridge.core.backend import Call
from hybridge.core.clock import SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.request import Clearance, Message, Request
from hybridge.core.response import Chunk
from hybridge.server.errors import failure
from hybridge.testing import anthropic
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec
from hybridge.testing.replies import fails, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
PNG64 = base64.b64encode(PNG).decode()
DATA = f"data:image/png;base64,{PNG64}"
FIELD = "messages[0].content[1].image_url.url"


def call(body, *, stream=False, clearance=Clearance.ANYWHERE, within_s=20.0):
    body |= {"stream": True} if stream else {}
    messages = (Message("user", "What is this?", images=1),)
    request = Request("r", "auto", messages, body, stream=stream, clearance=clearance)
    return Call(request, soon(within_s))


async def answered(backend, call):
    return [event async for event in backend.answer(call)]


@pytest.fixture
def scripted():
    return ScriptedBackend(spec("local"), saying("A cat."))


async def test_the_backend_is_shown_the_picture(host, pictures, scripted):
    async with host({"/a": response()}) as it:
        asked = call(asking(f"{it.url}/a"))
        before = copy.deepcopy(asked.request.body)
        (event,) = await answered(Shown(scripted, pictures()), asked)
    assert event.text == "A cat."
    (seen,) = scripted.calls
    assert urls_in(seen.request.body) == [DATA]
    assert asked.request.body == before
    unchanged = replace(seen, request=replace(seen.request, body=asked.request.body))
    assert unchanged == asked


async def test_a_call_without_such_pictures_passes_as_it_is(pictures, scripted):
    shown = Shown(scripted, pictures())
    asked = call(asking(DATA))
    await answered(shown, asked)
    assert scripted.calls[0] is asked
    assert shown.spec is scripted.spec


@pytest.mark.parametrize("stream", [False, True])
async def test_a_bad_picture_is_the_callers_fault(host, pictures, scripted, stream):
    async with host({"/a": response(kind="text/html")}) as it:
        with pytest.raises(BackendError) as raised:
            asked = call(asking(f"{it.url}/a"), stream=stream)
            await answered(Shown(scripted, pictures()), asked)
    assert (raised.value.fault, raised.value.backend) == (Fault.CALLER, "local")
    told = failure(raised.value, Redactor())
    assert (told.status, told.type) == (400, "invalid_request_error")
    assert (told.code, told.param) == ("invalid_image", FIELD)
    assert told.message.startswith(f"`{FIELD}` is served as `text/html`")
    assert scripted.calls == []


@pytest.fixture(params=["shown", "kept home"])
def wrapped(request, pictures, scripted):
    """The scripted backend in either wrapper."""
    return Shown(scripted, pictures()) if request.param == "shown" else KeptHome(scripted)


async def test_a_request_of_this_device_tells_no_picture_host(host, wrapped, scripted):
    async with host({"/a": response()}) as it:
        asked = call(asking(DATA, f"{it.url}/a"), clearance=Clearance.DEVICE_ONLY)
        with pytest.raises(BackendError) as raised:
            await answered(wrapped, asked)
    assert (it.connections, scripted.calls) == (0, [])
    assert raised.value.fault is Fault.UNABLE
    told = failure(raised.value, Redactor())
    assert told.code == "privacy_no_local_path"
    assert told.param == "messages[0].content[2].image_url.url"
    assert "as a data URI" in told.message


async def test_a_request_of_this_device_with_its_picture_in_it_is_served(wrapped, scripted):
    asked = call(asking(DATA), clearance=Clearance.DEVICE_ONLY)
    assert await answered(wrapped, asked)
    assert scripted.calls == [asked]


async def test_a_backend_that_fetches_by_itself_gets_the_address(scripted):
    asked = call(asking("https://example.com/a.png"))
    await answered(KeptHome(scripted), asked)
    assert scripted.calls[0] is asked


async def test_closing_the_answer_stops_the_backend(host, pictures):
    backend = ScriptedBackend(spec("local"), [*saying("A cat.", stream=True)[:1], Hang()])
    async with host({"/a": response()}) as it:
        events = Shown(backend, pictures()).answer(call(asking(f"{it.url}/a"), stream=True))
        await anext(events)
        assert backend.running == 1
        await events.aclose()
    assert (backend.running, backend.closed) == (0, 1)


async def test_cancelling_stops_the_fetching(host, pictures, scripted):
    async with host() as it:
        it.says["/a"] = it.waits
        asked = call(asking(f"{it.url}/a"))
        task = asyncio.create_task(answered(Shown(scripted, pictures()), asked))
        while not it.heads:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await it.hung_up.wait()
    assert scripted.calls == []


async def test_the_deadline_holds_for_both(host, pictures, scripted):
    async with host() as it:
        it.says["/a"] = it.waits
        with pytest.raises(BackendError, match="before the request's time was up") as raised:
            asked = call(asking(f"{it.url}/a"), within_s=0.2)
            await answered(Shown(scripted, pictures()), asked)
    assert not raised.value.fault.counts_for_breaker


async def test_a_probe_is_the_backends_own(pictures):
    for wrap in (KeptHome, lambda backend: Shown(backend, pictures())):
        down = BackendError("down", backend="local", fault=Fault.NETWORK)
        with pytest.raises(BackendError, match="down"):
            await wrap(ScriptedBackend(spec("local"), probes=[down])).probe()


@asynccontextmanager
async def over_http(dialect, *replies):
    async with Upstream(*replies) as up:
        claude = isinstance(dialect, Messages)
        async with Transport(
            up.base_url,
            TimeoutsConfig(),
            key="k",
            proxy=None,
            key_header="x-api-key" if claude else "authorization",
            headers=HEADERS if claude else None,
        ) as transport:
            yield (
                up,
                HttpBackend(spec("up"), transport, dialect, redact=Redactor(), clock=SystemClock()),
            )


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_of_chat_completions(host, pictures, stream):
    async with (
        host({"/a": response()}) as it,
        over_http(ChatCompletions("llava"), says("A cat.")) as (up, backend),
    ):
        asked = call(asking(f"{it.url}/a"), stream=stream)
        events = await answered(Shown(backend, pictures()), asked)
    whole = assemble(events) if isinstance(events[0], Chunk) else events[0]
    assert whole.text == "A cat."
    assert urls_in(up.posts[0].json) == [DATA]
    assert up.posts[0].json["model"] == "llava"


@pytest.mark.parametrize("stream", [False, True])
async def test_anthropics_api(host, pictures, stream):
    dialect = Messages("claude", max_tokens=64, clock=SystemClock())
    async with (
        host({"/a": response()}) as it,
        over_http(dialect, anthropic.says("A cat.")) as (up, backend),
    ):
        asked = call(asking(f"{it.url}/a"), stream=stream)
        await answered(Shown(backend, pictures()), asked)
    (picture,) = (p for p in up.posts[0].json["messages"][0]["content"] if p["type"] == "image")
    assert picture["source"] == {"type": "base64", "media_type": "image/png", "data": PNG64}


async def test_a_picture_is_fetched_once_however_often_the_upstream_is_asked(host, pictures):
    refused = fails(400, "stream_options is not supported")
    async with (
        host({"/a": response()}) as it,
        over_http(ChatCompletions("llava"), refused, says("A cat.")) as (up, backend),
    ):
        await answered(Shown(backend, pictures()), call(asking(f"{it.url}/a"), stream=True))
    assert (len(up.posts), len(it.heads)) == (2, 1)
