"""A webhook and a real receiver: what arrives, what is tried again, and what is given up."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from tests.unit.telemetry.alerts.samples import FIRING

from hybridge.telemetry.alerts.alert import Alert
from hybridge.telemetry.alerts.webhook import QUEUE, Receiver, Webhook
from hybridge.telemetry.outbound import Persistence
from hybridge.testing.clock import ManualClock
from hybridge.testing.replies import Cut, Received, Step, answers, hangs, raw
from hybridge.testing.upstream import Upstream
from hybridge.wiring.posting import posting

pytestmark = pytest.mark.anyio
PATH = "/services/T000/B000/verysecret"
OK = raw(b"ok")
BRISK = Persistence(attempts=3, timeout_s=5.0, pause_s=0.01, close_s=5.0)


def lost(_: Received) -> Iterator[Step]:
    """No answer: the connection breaks."""
    yield Cut.RESET


class Scene:
    """One webhook with its receiver."""

    def __init__(self, upstream: Upstream, webhook: Webhook, counts: Counter[str]) -> None:
        self.upstream = upstream
        self.webhook = webhook
        self.counts = counts

    async def until(self, **counts: int) -> None:
        async with asyncio.timeout(30):
            while any(self.counts[outcome] < n for outcome, n in counts.items()):
                await asyncio.sleep(0.005)


@asynccontextmanager
async def scene(
    *replies, persistence: Persistence = BRISK, shape: str = "json", **more
) -> AsyncIterator[Scene]:
    counts: Counter[str] = Counter()

    def count(_: Alert, outcome: str) -> None:
        counts[outcome] += 1

    async with Upstream(*replies) as upstream:
        receiver = Receiver("ops", upstream.root_url + PATH, shape, "home", **more)
        webhook = Webhook(receiver, posting(), ManualClock(), count, persistence)
        try:
            yield Scene(upstream, webhook, counts)
        finally:
            await webhook.close()


def subjects(upstream: Upstream) -> list[str]:
    return [received.json["subject"] for received in upstream.posts]


async def test_alerts_arrive_in_their_order():
    async with scene(OK) as s:
        for subject in "abc":
            s.webhook.put(replace(FIRING, subject=subject))
        await s.until(sent=3)
        assert subjects(s.upstream) == ["a", "b", "c"]
        (first, *_) = s.upstream.posts
        assert (first.method, first.target) == ("POST", PATH)
        assert first.headers["content-type"].startswith("application/json")


async def test_a_signature_joins_the_rest_of_the_address():
    async with scene(answers({"errcode": 0}), shape="dingtalk", secret="SECret") as s:
        s.webhook.receiver = replace(
            s.webhook.receiver, url=s.upstream.root_url + "/robot/send?access_token=abc"
        )
        s.webhook.put(FIRING)
        await s.until(sent=1)
        (received,) = s.upstream.posts
        assert received.target.startswith("/robot/send?access_token=abc&timestamp=")
        assert "traceparent" not in received.headers


async def test_what_failed_once_is_tried_again():
    async with scene(raw(b"", 500), lost, OK) as s:
        s.webhook.put(FIRING)
        await s.until(sent=1)
        assert len(s.upstream.posts) == 3
        assert s.counts == {"sent": 1}


async def test_a_receiver_that_only_fails_is_given_up_and_logged_once(caplog):
    async with scene(raw(b"", 500)) as s:
        s.webhook.put(FIRING)
        s.webhook.put(FIRING)
        await s.until(failed=2)
        assert len(s.upstream.posts) == 6
        s.upstream.then(OK)
        caplog.set_level(logging.INFO)
        s.webhook.put(FIRING)
        await s.until(sent=1)
        errors = [r.getMessage() for r in caplog.records if r.name == "hybridge.alerts"]
        where = f"webhook ops at {s.upstream.root_url}"
        assert errors == [f"{where} takes no alerts: status 500", f"{where} takes alerts again"]


async def test_what_is_refused_for_good_is_not_tried_again():
    async with scene(raw(b"", 404)) as s:
        s.webhook.put(FIRING)
        await s.until(failed=1)
        assert len(s.upstream.posts) == 1


async def test_no_redirect_is_followed():
    async with Upstream(OK) as elsewhere:
        away = raw(b"", 307, {"location": f"{elsewhere.root_url}/other"})
        async with scene(away) as s:
            s.webhook.put(FIRING)
            await s.until(failed=1)
        assert elsewhere.requests == []


@pytest.mark.parametrize("never", [hangs(), lost])
async def test_neither_log_nor_name_tells_the_address(never, caplog):
    hasty = Persistence(attempts=2, timeout_s=0.1, pause_s=0.01)
    async with scene(never, persistence=hasty, secret="topsecret") as s:
        s.webhook.put(FIRING)
        await s.until(failed=1)
        said = caplog.text + repr(s.webhook.receiver)
        assert "verysecret" not in said
        assert "topsecret" not in said
        assert "webhook ops at http://127.0.0.1" in said


async def test_a_receiver_that_is_not_there_is_told_of_without_its_secrets(caplog):
    async with scene(OK) as s:
        url = s.upstream.root_url
    counts: Counter[str] = Counter()
    receiver = Receiver("ops", url + PATH + "?token=hidden-token", "json", "home")
    webhook = Webhook(receiver, posting(), ManualClock(), lambda _, o: counts.update([o]), BRISK)
    webhook.put(FIRING)
    await webhook.close()
    assert counts == {"failed": 1}
    assert "takes no alerts: ConnectionError" in caplog.text
    assert "verysecret" not in caplog.text
    assert "hidden-token" not in caplog.text


async def test_of_too_many_the_oldest_are_dropped():
    async with scene(hangs(), OK, persistence=replace(BRISK, timeout_s=0.3)) as s:
        s.webhook.put(replace(FIRING, subject="first"))
        async with asyncio.timeout(30):
            while not s.upstream.posts:
                await asyncio.sleep(0.005)
        for number in range(QUEUE + 3):
            s.webhook.put(replace(FIRING, subject=str(number)))
        assert s.counts == {"dropped": 3}
        await s.until(sent=QUEUE + 1)
        assert subjects(s.upstream)[1:4] == ["first", "3", "4"]
        assert subjects(s.upstream)[-1] == str(QUEUE + 2)


async def test_closing_sends_what_is_waiting():
    async with scene(OK) as s:
        for _ in range(5):
            s.webhook.put(FIRING)
        await s.webhook.close()
        assert s.counts == {"sent": 5}
        s.webhook.put(FIRING)
        assert s.counts == {"sent": 5, "dropped": 1}


async def test_closing_does_not_wait_for_a_receiver_that_hangs():
    async with scene(hangs(), persistence=replace(BRISK, timeout_s=60, close_s=0.1)) as s:
        s.webhook.put(FIRING)
        s.webhook.put(FIRING)
        async with asyncio.timeout(30):
            await s.webhook.close()
        assert s.counts == {"dropped": 2}


async def test_an_endless_answer_is_not_read_to_its_end():
    endless = raw(b"x" * 1_000_000)
    async with scene(endless) as s:
        s.webhook.put(FIRING)
        await s.until(sent=1)
