"""R70, B36: the responses endpoints over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from hybridge.core.assembly import as_chunks
from hybridge.core.errors import BackendError, Fault
from hybridge.server.shapes.responses import ResponsesStore
from hybridge.testing.backend import calling, whole
from hybridge.testing.clock import ManualClock
from hybridge.testing.gateway import (
    REPORT,
    ScriptedGateway,
    ScriptedReply,
    Visit,
    piece,
    usage_piece,
)

pytestmark = pytest.mark.anyio
PATH = "/v1/responses"
BROKEN = BackendError("gpt hung up", backend="gpt", fault=Fault.NETWORK)
KEYS = {"ann": "key-a", "bob": "key-b"}


class Echo(ScriptedGateway):
    """Answers with what it was told, so that a lost turn would show."""

    @asynccontextmanager
    async def serve(self, request):
        self.visits.append(Visit(request))
        answer = whole("|".join(message.text for message in request.messages))
        await asyncio.sleep(0)
        yield ScriptedReply(as_chunks(answer) if request.stream else [answer], REPORT, {})


def bearing(tenant):
    return {"authorization": f"Bearer {KEYS[tenant]}"}


def text_of(response):
    return response["output"][-1]["content"][0]["text"]


async def test_whole_answer_with_its_account(opened):
    async with opened(whole("Hello.")) as door:
        got = await door.ask(PATH, {"model": "gpt", "input": "Hi"})
    assert got.status == 200
    response = got.json
    assert (response["object"], response["status"]) == ("response", "completed")
    assert response["id"].removeprefix("resp_") == got.headers["x-request-id"].removeprefix("req-")
    assert text_of(response) == "Hello."
    assert response["hybridge"]["route"] == "cloud_classified"
    assert got.headers["x-hybridge-route"] == "cloud_classified"


async def test_stream_with_its_account_on_the_last_event(opened, events):
    async with opened(piece("Hel"), piece("lo."), piece(finish="stop"), usage_piece()) as door:
        got = await door.ask(PATH, {"input": "Hi", "stream": True})
    told = events(got.body)
    assert told[-1]["type"] == "response.completed"
    assert text_of(told[-1]["response"]) == "Hello."
    assert told[-1]["response"]["hybridge"]["route"] == "cloud_classified"
    assert told[-1]["response"]["usage"]["total_tokens"] == 5
    assert not any("hybridge" in str(event) for event in told[:-1])
    assert b"[DONE]" not in got.body


async def test_report_in_body_can_be_switched_off(opened):
    async with opened(piece("Hi"), piece(finish="stop"), report_in_body=False) as door:
        got = await door.ask(PATH, {"input": "Hi", "stream": True})
    assert b"hybridge" not in got.body


@pytest.mark.parametrize(
    "steps", [[piece("one"), BROKEN], [piece("one")], [piece(), BROKEN], [piece("x"), ValueError()]]
)
async def test_a_stream_that_breaks_ends_with_one_failed_event(opened, events, steps):
    async with opened(*steps) as door:
        got = await door.ask(PATH, {"input": "Hi", "stream": True})
        told = events(got.body)
        kept = await door.ask(f"{PATH}/{told[0]['response']['id']}", method="GET")
    assert told[-1]["type"] == "response.failed"
    assert told[-1]["response"]["status"] == "failed"
    assert not any(
        event["type"] in ("error", "response.failed", "response.completed") for event in told[:-1]
    )
    assert kept.status == 404


async def test_a_failure_after_an_early_head_is_a_whole_stream(opened, events):
    async with opened(0.5, BROKEN, early_headers_s=0.05) as door:
        got = await door.ask(PATH, {"input": "Hi", "stream": True})
    told = events(got.body.removeprefix(b": keep-alive\n\n"))
    assert [event["type"].removeprefix("response.") for event in told] == [
        "created",
        "in_progress",
        "failed",
    ]


async def test_errors_name_the_field_in_the_callers_words(opened):
    async with opened() as door:
        got = await door.ask(PATH, {"input": "Hi", "truncation": "auto"})
    error = got.json["error"]
    assert (got.status, error["param"]) == (400, "truncation")
    told = BackendError(
        "no", backend="gpt", fault=Fault.CALLER, status=400,
        body={"message": "too long", "param": "messages[0].content"},
    )  # fmt: skip
    async with opened(told) as door:
        got = await door.ask(PATH, {"input": "Hi"})
    assert got.json["error"]["param"] == "input"


async def test_a_tool_call_and_its_output(opened):
    tools = [{"type": "function", "name": "weather", "parameters": {"type": "object"}}]
    async with opened(calling("weather", '{"city":"Bern"}')) as door:
        first = (await door.ask(PATH, {"input": "Hi", "tools": tools})).json
        call = first["output"][0]
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
        body = {"input": [output], "tools": tools, "previous_response_id": first["id"]}
        second = await door.ask(PATH, body)
        messages = door.gateway.visits[-1].request.body["messages"]
    assert (call["type"], call["name"], call["arguments"]) == (
        "function_call", "weather", '{"city":"Bern"}',
    )  # fmt: skip
    assert second.status == 200
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == call["call_id"]


@pytest.mark.parametrize("stream", [False, True])
async def test_chains_of_twenty_sessions_and_two_tenants_do_not_mix(opened, events, stream):
    """Every follow-up has its own history, whichever others come in between."""

    async def say(door, tenant, name, turn, previous):
        body = {"input": f"{name}.{turn}", "stream": stream, "model": "auto"}
        if previous is not None:
            body["previous_response_id"] = previous["id"]
        got = await door.ask(PATH, body, headers=bearing(tenant))
        return events(got.body)[-1]["response"] if stream else got.json

    async with opened(gateway=Echo(), keys=KEYS) as door:
        chains = [(tenant, f"s{n}") for n in range(20) for tenant in KEYS]
        last = dict.fromkeys(chains)
        for turn in range(5):
            answers = await asyncio.gather(
                *(say(door, *chain, turn, last[chain]) for chain in chains)
            )
            last = dict(zip(chains, answers, strict=True))
        sessions = {visit.request.session for visit in door.gateway.visits}
    for (_, name), response in last.items():
        said = text_of(response).split("|")
        assert said[0] == f"{name}.0"
        assert said[-1] == f"{name}.4"
        assert {part.partition(".")[0] for part in said} == {name}
    assert len(sessions) == len(chains)


async def test_a_response_of_another_tenant_is_not_there(opened):
    async with opened(keys=KEYS) as door:
        mine = (await door.ask(PATH, {"input": "Hi"}, headers=bearing("ann"))).json["id"]
        for name in (mine, "resp_never"):
            refused = []
            for method, path in [("GET", ""), ("DELETE", ""), ("GET", "/input_items")]:
                got = await door.ask(f"{PATH}/{name}{path}", method=method, headers=bearing("bob"))
                refused.append((got.status, got.json["error"]["message"]))
            assert set(refused) == {(404, "there is no response of that id")}
            body = {"input": "Hi", "previous_response_id": name}
            got = await door.ask(PATH, body, headers=bearing("bob"))
            assert got.status == 400
            assert got.json["error"]["code"] == "previous_response_not_found"
            assert got.json["error"]["param"] == "previous_response_id"
            assert "send the whole conversation" in got.json["error"]["message"]
        assert (await door.ask(f"{PATH}/{mine}", method="GET")).status == 401


async def test_a_stored_response_is_shown_as_it_was_told(opened, events):
    async with opened(piece("Hi"), piece(finish="stop"), usage_piece()) as door:
        got = await door.ask(PATH, {"input": "Hi", "stream": True, "metadata": {"a": "b"}})
        told = events(got.body)[-1]["response"]
        kept = await door.ask(f"{PATH}/{told['id']}", method="GET")
        streamed = await door.ask(f"{PATH}/{told['id']}?stream=true", method="GET")
    assert kept.json == told
    assert told["metadata"] == {"a": "b"}
    assert (streamed.status, streamed.json["error"]["param"]) == (400, "stream")


async def test_deleting_forgets(opened):
    async with opened() as door:
        name = (await door.ask(PATH, {"input": "Hi"})).json["id"]
        gone = await door.ask(f"{PATH}/{name}", method="DELETE")
        again = await door.ask(f"{PATH}/{name}", method="DELETE")
        follow_up = await door.ask(PATH, {"input": "Hi", "previous_response_id": name})
    assert gone.json == {"id": name, "object": "response", "deleted": True}
    assert (again.status, follow_up.status) == (404, 400)


async def test_what_is_not_to_be_stored_is_not(opened_with):
    async with opened_with() as door:
        response = (await door.ask(PATH, {"input": "Hi", "store": False})).json
        kept = await door.ask(f"{PATH}/{response['id']}", method="GET")
        size = len(door.store)
    assert response["store"] is False
    assert (kept.status, size) == (404, 0)


async def test_an_answer_that_does_not_fit_says_that_it_is_not_stored(opened_with):
    clock = ManualClock()
    async with opened_with(clock=clock, store=ResponsesStore(clock, max_bytes=2000)) as door:
        response = (await door.ask(PATH, {"input": "x" * 2000})).json
        kept = await door.ask(f"{PATH}/{response['id']}", method="GET")
    assert response["store"] is False
    assert kept.status == 404


async def test_a_response_expires(opened_with):
    clock = ManualClock()
    async with opened_with(clock=clock, store=ResponsesStore(clock, ttl_s=60)) as door:
        name = (await door.ask(PATH, {"input": "Hi"})).json["id"]
        clock.advance(59)
        before = await door.ask(f"{PATH}/{name}", method="GET")
        clock.advance(60)
        after = await door.ask(f"{PATH}/{name}", method="GET")
    assert (before.status, after.status) == (200, 404)


async def test_the_input_of_a_chain_page_by_page(opened):
    async with opened(gateway=Echo()) as door:
        one = (await door.ask(PATH, {"input": "One"})).json
        body = {"input": [{"role": "user", "content": "Two"}], "previous_response_id": one["id"]}
        two = (await door.ask(PATH, body)).json
        listed = f"{PATH}/{two['id']}/input_items"
        every = (await door.ask(f"{listed}?order=asc", method="GET")).json
        page = (await door.ask(f"{listed}?limit=2", method="GET")).json
        rest = (await door.ask(f"{listed}?limit=2&after={page['last_id']}", method="GET")).json
        wrong = [
            (await door.ask(f"{listed}?{query}", method="GET")).json["error"]["param"]
            for query in ("limit=0", "limit=x", "order=up", "after=x", "before=x", "include[]=x")
        ]
    assert [item["role"] for item in every["data"]] == ["user", "assistant", "user"]
    assert every["data"][0]["content"] == [{"type": "input_text", "text": "One"}]
    assert every["data"][1] == one["output"][0]
    assert (every["first_id"], every["has_more"]) == (every["data"][0]["id"], False)
    assert page["data"] == every["data"][:0:-1]
    assert (page["has_more"], rest["has_more"]) == (True, False)
    assert rest["data"] == every["data"][:1]
    assert wrong == ["limit", "limit", "order", "after", "before", "include"]
