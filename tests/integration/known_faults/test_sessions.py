"""Follow-ups that refer to what was said before, between two backends that know only their own."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, port_of
from tests.integration.known_faults.scenes import between_these
from tests.integration.running import Running, running

from hybridge.core.request import Tier
from hybridge.routing.session import Sessions
from hybridge.server.shapes.responses.store import ResponsesStore, Turn
from hybridge.testing.clock import ManualClock
from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Received, Reply, Step, fails, says
from hybridge.testing.upstream import Upstream

pytestmark = [pytest.mark.anyio, pytest.mark.fault("B36")]

RESPONSES = "/v1/responses"
ENV = {"A_KEY": "sk-a-1", "B_KEY": "sk-b-2"}
KEYS = [{"name": "a", "key_env": "A_KEY"}, {"name": "b", "key_env": "B_KEY"}]
A, B = ({"authorization": f"Bearer {key}"} for key in ENV.values())
STATE = ("previous_response_id", "conversation", "store", "session_id")
SESSIONS, TURNS = 20, 5


@dataclass
class Account:
    """An upstream that accepts no state but its own, and so none of ours."""

    name: str
    up: Upstream = field(init=False)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.up = Upstream(self.reply)

    def reply(self, received: Received) -> Iterator[Step]:
        """Says how many user turns it sees, and refuses ids that it did not issue."""
        body = received.json
        ids = [name for name in STATE if body.get(name)]
        calls = [call["id"] for m in body["messages"] for call in m.get("tool_calls") or ()]
        results = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
        if ids or calls != results:
            self.foreign.append(f"{ids} {calls} {results}")
            yield from fails(404, "not issued here")(received)
            return
        seen = [m["content"] for m in body["messages"] if m["role"] == "user"]
        yield from self.told(f"{self.name} saw {len(seen)}: {seen[0]}")(received)

    def told(self, text: str) -> Reply:
        return says(text)


@dataclass
class Two:
    """A gateway before two equal accounts."""

    gateway: Running
    one: Account
    other: Account

    @property
    def accounts(self) -> tuple[Account, Account]:
        return self.one, self.other

    async def ask(self, text: Any, headers: Any = A, path: str = RESPONSES, **more: Any) -> Got:
        body = {"model": "auto", "input": text, **more}
        return await ask(port_of(self.gateway), path, body, headers=headers)


@pytest.fixture
async def two(tmp_path) -> AsyncIterator[Two]:
    one, other = Account("one"), Account("other")
    async with one.up, other.up:
        rows = [
            {"name": account.name, "base_url": account.up.base_url, "model": "m"}
            for account in (one, other)
        ]
        config = {
            "server": {"api_keys": KEYS},
            "edge": {"backends": []},
            "cloud": {"backends": rows},
        }
        async with running(tmp_path, config, env=ENV) as gateway:
            yield Two(gateway, one, other)


async def id_of(got: Got, *, stream: bool) -> str:
    assert got.status == 200, got.body
    if not stream:
        return got.json["id"]
    line = next(li for li in got.body.decode().splitlines() if '"id":"resp_' in li)
    return line.partition('"id":"')[2].partition('"')[0]


@BOTH_WAYS
async def test_every_follow_up_is_understood_by_whoever_gets_it(two, stream):
    """Twenty conversations of five turns, all mixed, half of the turns on each account."""

    async def conversation(number: int) -> None:
        previous = None
        for turn in range(TURNS):
            model = ("one", "other", "auto")[(number + turn) % 3]
            more = {"previous_response_id": previous} if previous else {}
            got = await two.ask(f"s{number}t{turn}", model=model, stream=stream, **more)
            previous = await id_of(got, stream=stream)
            assert f"saw {turn + 1}: s{number}t0".encode() in got.body

    await asyncio.gather(*(conversation(number) for number in range(SESSIONS)))
    assert [account.foreign for account in two.accounts] == [[], []]
    assert all(len(account.up.posts) > SESSIONS for account in two.accounts)


@BOTH_WAYS
async def test_results_of_tools_go_with_the_calls_they_belong_to(two, stream):
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}]
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    for issuer, answerer in (("one", "other"), ("other", "one")):
        account = two.one if issuer == "one" else two.other
        account.told = lambda _: says("", extra={"tool_calls": [call]}, finish_reason="tool_calls")
        got = await two.ask("Use the tool.", model=issuer, tools=tools)
        account.told = says
        result = {"type": "function_call_output", "call_id": "call_1", "output": "42"}
        previous = await id_of(got, stream=False)
        got = await two.ask(
            [result], model=answerer, previous_response_id=previous, tools=tools, stream=stream
        )
        assert got.status == 200, got.body
        assert f"{answerer} saw 1: Use the tool.".encode() in got.body
    assert [account.foreign for account in two.accounts] == [[], []]


@BOTH_WAYS
async def test_ids_belong_to_the_key_that_got_them(two, stream):
    previous = await id_of(await two.ask("A's own"), stream=False)
    got = await two.ask("And?", B, previous_response_id=previous, stream=stream)
    assert (got.status, got.json["error"]["code"]) == (400, "previous_response_not_found")
    gone = await ask(port_of(two.gateway), f"{RESPONSES}/{previous}", method="GET", headers=B)
    assert gone.status == 404
    assert (await two.ask("And?", previous_response_id=previous)).status == 200


async def test_the_same_session_id_under_two_keys_is_two_sessions(tmp_path):
    """A's session leans to the cloud; a short follow-up of B's session of that name does not."""
    async with between_these(tmp_path, env=ENV, server={"api_keys": KEYS}) as p:

        async def routed(text: str, headers: Any) -> str:
            answer = await p.gateway.chat(text, headers={**headers, "x-session-id": "same"})
            assert answer.status == 200
            return answer.account["tier"]

        for _ in range(3):
            assert await routed("Prove that the square root of 2 is irrational.", A) == "cloud"
        assert await routed("and why?", A) == "cloud"
        assert await routed("and why?", B) == "edge"


@BOTH_WAYS
async def test_when_the_one_that_answered_is_gone_the_other_has_the_whole_history(two, stream):
    previous = await id_of(await two.ask("first", model="one"), stream=False)
    two.one.up.then(fails(503))
    named = await two.ask("second", model="one", previous_response_id=previous, stream=stream)
    assert named.status == 503
    assert named.json["error"]["message"]
    got = await two.ask("second", previous_response_id=previous, stream=stream)
    assert got.status == 200, got.body
    assert b"other saw 2: first" in got.body


async def test_sessions_without_number_take_bounded_room():
    clock = ManualClock()
    sessions, store = Sessions(3, 1800.0, clock), ResponsesStore(clock)
    kept: dict[str, int] = defaultdict(int)
    for number in range(100_000):
        sessions.bind(f"session-{number}", 5.0, Tier.CLOUD)
        store.keep("a", Turn(f"resp_{number}", b"[]", b'{"output":[]}'))
        kept["sessions"] = max(kept["sessions"], len(sessions))
        kept["answers"] = max(kept["answers"], len(store))
    assert max(kept.values()) <= 10_001
    assert sessions.view("session-99999").tier is Tier.CLOUD
    clock.advance(25 * 3600)
    sessions.bind("last", 5.0, Tier.CLOUD)
    assert store.find("a", "resp_99999") is None
    assert (len(sessions), len(store)) == (1, 0)


async def test_a_gateway_forgets_the_oldest_answers_and_says_so(two):
    got = await two.ask("And?", previous_response_id="resp_of_long_ago")
    assert (got.status, got.json["error"]["code"]) == (400, "previous_response_not_found")
    assert got.json["error"]["param"] == "previous_response_id"
