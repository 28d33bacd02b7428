"""What a request leaves in the audit trail, from the door to the file and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from msgspec.structs import replace
from tests.unit.storage.test_records import opened, url

from hybridge.core.events import Exited, Served
from hybridge.core.request import Clearance, Message, Request
from hybridge.core.response import Event
from hybridge.core.trail import Exit
from hybridge.storage.audit.reader import reading
from hybridge.storage.audit.summary import Wanted
from hybridge.storage.audit.verify import verify
from hybridge.testing.backend import Hang, saying

pytestmark = pytest.mark.anyio
MAIL = "anna.gerber@example.com"
SURE, CLOUD = saying("from the edge", confidence=0.9), saying("from the cloud")


class Masked:
    """A disguise of one placeholder, which no answer holds."""

    def __init__(self, request: Request) -> None:
        text = request.messages[0].text.replace(MAIL, "[EMAIL_1]")
        body = dict(request.body) | {"messages": [{"role": "user", "content": text}]}
        messages = (Message("user", text),)
        self.request = replace(request, messages=messages, body=body, disguise=None)

    def restored(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        return events


async def of(told, tmp_path, **wanted):
    """The audit of what was told to those who watch."""
    path = tmp_path / "h.db"
    async with opened(path) as records:
        for event in told:
            records.on_event(event)
    async with reading(url(path)) as reader:
        audit = await verify(reader, Wanted(**wanted))
    assert not audit.problems
    assert MAIL.encode() not in path.read_bytes()
    return audit


async def serve(scene, request: Request) -> None:
    async with scene.gateway.serve(request) as reply:
        async for _ in reply.events:
            pass


async def test_a_disguised_request_left_in_disguise_only(stage, ask, tmp_path):
    privacy = {"action": "pseudonymise"}
    async with stage(
        SURE, CLOUD, p=1.0, privacy=privacy, pseudonymise=lambda r, _: Masked(r)
    ) as scene:
        await serve(scene, ask(f"Prove that {MAIL} is valid."))
        assert MAIL not in str(scene.cloud.calls[0].request.body)
    audit = await of(scene.told, tmp_path)
    assert audit.well
    assert audit.summary.clearance["disguised"] == 1
    assert audit.summary.found == {"EMAIL": 1}
    (left,) = audit.summary.departures()
    assert (left.to, left.disguised, left.count) == ("cloud", True, 1)


async def test_a_comparison_after_the_end_has_an_entry_of_its_own(stage, ask, tmp_path):
    async with stage(SURE, CLOUD, p=0.5) as scene:
        request = ask()
        await serve(scene, request)
        request.trail.note(Exit("judge", "judge"))
    (late,) = scene.of(Exited)
    assert (late.request_id, late.tenant, late.clearance) == ("r", "anonymous", Clearance.ANYWHERE)
    audit = await of(scene.told, tmp_path, request_id="r")
    assert [entry["entry"] for entry in audit.summary.entries] == ["request", "exit"]
    assert audit.summary.exits["judge", "judge", False] == 1


async def test_a_request_that_was_cancelled_says_where_it_had_been(stage, ask, tmp_path):
    async with stage(SURE, [Hang()], p=1.0) as scene:
        asking = asyncio.create_task(serve(scene, ask("Prove it.")))
        while not scene.cloud.calls:
            await asyncio.sleep(0.001)
        asking.cancel()
        await asyncio.wait({asking})
    (served,) = scene.of(Served)
    assert (served.error, served.exits) == ("cancelled", (Exit("cloud"),))
    audit = await of(scene.told, tmp_path)
    assert (audit.summary.failed, audit.summary.departures()[0].to) == (1, "cloud")
