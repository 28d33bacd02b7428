"""Faults of money: parallel requests, prices that nobody knows, and budgets that are used up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of
from tests.integration.known_faults.readings import becomes, money, recorded, total
from tests.integration.known_faults.scenes import between_these

from hybridge.testing.http import ask
from hybridge.testing.replies import answers, fails, says, slowly, streams

pytestmark = pytest.mark.anyio

CENT = {"input_usd": 0, "output_usd": 1000}
"""A tenth of a cent a token, so that ten tokens cost a cent."""
TEN_WORDS = says("one two three four five six seven eight nine ten")
HARD = "Prove that the square root of 2 is irrational."
SPENT, RESERVED = "hybridge_budget_spent_usd", "hybridge_budget_reserved_usd"
EVERYONE = {"period": "daily", "key": "*"}


async def asked(pair, model="c", stream=False, **more):
    body = chat(HARD, model=model, stream=stream, max_tokens=10, **more)
    if stream:
        body["stream_options"] = {"include_usage": True}
    return await ask(port_of(pair.gateway), body=body)


@pytest.mark.fault("B30")
@BOTH_WAYS
@pytest.mark.parametrize("model", ["c", "auto"])
async def test_twenty_at_once_do_not_pass_a_budget_for_two(tmp_path, model, stream):
    async with between_these(tmp_path, cloud={"price": CENT}, budget={"daily_usd": 0.02}) as p:
        p.cloud.then(slowly(TEN_WORDS, first_s=0.5))
        got = await asyncio.gather(*(asked(p, model, stream) for _ in range(20)))
        await becomes(p.gateway, 0, RESERVED, **EVERYONE)
        spent = await total(p.gateway, SPENT, **EVERYONE)
    assert 0.02 <= round(spent, 6) <= 0.03
    assert len(p.cloud.posts) == round(spent / 0.01)
    others = [one for one in got if one.status != 200]
    if model == "auto":
        assert others == []
        degraded = [one for one in got if one.headers.get("x-hybridge-degraded") == "true"]
        assert len(degraded) == 20 - len(p.cloud.posts)
    else:
        assert len(others) == 20 - len(p.cloud.posts)
        assert {(o.status, o.json["error"]["code"]) for o in others} == {(429, "budget_exhausted")}


@pytest.mark.fault("B30")
@BOTH_WAYS
async def test_what_failed_or_was_cheaper_goes_back(tmp_path, stream):
    """Each promises 10 cents of a dollar: fifty could not pass if promises were kept."""
    database = tmp_path / "records.db"
    async with between_these(
        tmp_path,
        cloud={"price": {"input_usd": 0, "output_usd": 10_000}},
        budget={"daily_usd": 1},
        execution={"breaker_failures": 1000, "breaker_window": 1000},
        records={"url": f"sqlite+aiosqlite:///{database}"},
    ) as p:
        p.cloud.then(fails(500))
        for _ in range(25):
            assert (await asked(p, stream=stream)).status == 502
        p.cloud.then(says("one"))
        for _ in range(25):
            assert (await asked(p, stream=stream)).status == 200
        await becomes(p.gateway, 0, RESERVED, **EVERYONE)
        spent = await total(p.gateway, SPENT, **EVERYONE)
        assert spent == pytest.approx(25 * 0.01)
    rows = recorded(database)
    assert len(rows) == 50
    assert float(money(rows)) == pytest.approx(spent)


UNPRICED = {"price": "auto", "model": "a-model-that-no-table-knows"}


@pytest.mark.fault("B31")
@BOTH_WAYS
async def test_an_unknown_price_is_assumed_warned_of_and_never_zero(tmp_path, stream):
    database = tmp_path / "records.db"
    async with between_these(
        tmp_path,
        cloud=UNPRICED,
        budget={"daily_usd": 0.01, "assumed_price": {"input_usd": 0, "output_usd": 400}},
        records={"url": f"sqlite+aiosqlite:///{database}"},
    ) as p:
        assert "price" in (tmp_path / "gateway.log").read_text()
        p.cloud.then(TEN_WORDS)
        got = [await asked(p, stream=stream) for _ in range(5)]
        assumed = await total(p.gateway, "hybridge_budget_assumed_usd", **EVERYONE)
        assert assumed == await total(p.gateway, SPENT, **EVERYONE) == pytest.approx(0.012)
        await becomes(p.gateway, 3, "hybridge_unknown_cost_total", backend="c")
    assert [one.status for one in got] == [200, 200, 200, 429, 429]
    served = [row for row in recorded(database) if row["backend"] == "c"]
    assert len(served) == 3
    assert {row["cost_usd"] for row in served} == {None}


@pytest.mark.fault("B31")
@BOTH_WAYS
async def test_where_it_is_let_pass_its_cost_is_unknown_all_the_same(tmp_path, stream):
    budget = {"daily_usd": 0.001, "unpriced": "allow"}
    async with between_these(tmp_path, cloud=UNPRICED, budget=budget) as p:
        assert "price" in (tmp_path / "gateway.log").read_text()
        answers = [
            await p.gateway.chat(HARD, model="c", stream=stream, max_tokens=10) for _ in range(5)
        ]
        await becomes(p.gateway, 5, "hybridge_unknown_cost_total", backend="c")
    assert {answer.account["cost_usd"] for answer in answers} == {None}


BAD_PRICES = {
    "input only": ({"input_usd": 1}, "output_usd"),
    "negative": ({"input_usd": 1, "output_usd": -1}, "output_usd"),
    "text": ({"input_usd": "cheap", "output_usd": 1}, "input_usd"),
    "not a number": ({"input_usd": ".nan", "output_usd": 1}, "input_usd"),
    "unknown word": ("free", "price"),
}


@pytest.mark.fault("B31")
@pytest.mark.parametrize("name", BAD_PRICES)
async def test_a_bad_price_is_an_error_of_the_configuration(tmp_path, name):
    price, field = BAD_PRICES[name]
    with pytest.raises(AssertionError, match="did not start") as refused:
        async with between_these(tmp_path, cloud={"price": price}):
            pass
    assert field in str(refused.value)
    assert "Traceback" not in str(refused.value)


@pytest.mark.fault("B31")
async def test_the_policy_may_be_not_to_start(tmp_path):
    with pytest.raises(AssertionError, match="did not start") as refused:
        async with between_these(tmp_path, cloud=UNPRICED, budget={"unpriced": "refuse"}):
            pass
    assert "a-model-that-no-table-knows" in str(refused.value)
    assert "Traceback" not in str(refused.value)


@pytest.mark.fault("B31")
@BOTH_WAYS
async def test_a_cost_is_never_negative_and_an_unknown_alias_is_told(tmp_path, stream):
    odd = {"prompt_tokens": -100, "completion_tokens": -5, "total_tokens": -105}
    async with between_these(tmp_path, budget={"daily_usd": 1}) as p:
        p.cloud.then(says("one", extra={"refusal": None}), _with_usage(odd))
        for _ in range(3):
            await asked(p, stream=stream)
        assert await total(p.gateway, SPENT, **EVERYONE) >= 0
        got = await asked(p, model="no-such-alias", stream=stream)
        assert (got.status, got.json["error"]["code"]) == (404, "model_not_found")


def _with_usage(usage):
    message = {"role": "assistant", "content": "one"}
    whole = {
        "id": "x", "object": "chat.completion", "created": 1, "model": "large", "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }  # fmt: skip
    part = {
        "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "large",
        "choices": [{"index": 0, "delta": message, "finish_reason": "stop"}],
    }  # fmt: skip

    def reply(received):
        stream = streams(part, part | {"choices": [], "usage": usage})
        yield from (stream if received.json.get("stream") else answers(whole))(received)

    return reply


@pytest.mark.fault("B32")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
async def test_no_money_left_blocks_what_costs_money_and_nothing_else(tmp_path, zone):
    async with between_these(
        tmp_path, cloud={"price": CENT}, budget={"daily_usd": 0.01}, env={"TZ": zone}
    ) as p:
        p.cloud.then(TEN_WORDS)
        assert (await asked(p)).status == 200, "exactly the limit is spent now"
        for stream in (False, True):
            auto, local = await asked(p, "auto", stream), await asked(p, "e", stream)
            assert (auto.status, auto.headers["x-hybridge-route"]) == (200, "edge_degraded")
            assert auto.headers["x-hybridge-degraded"] == "true"
            assert (local.status, local.headers["x-hybridge-route"]) == (200, "direct")
            cloud = await asked(p, "c", stream)
            assert (cloud.status, cloud.json["error"]["code"]) == (429, "budget_exhausted")
            now = datetime.now(UTC)
            midnight = now.replace(hour=0, minute=0, second=0) + timedelta(days=1)
            left_s = (midnight - now).total_seconds()
            assert int(cloud.headers["retry-after"]) == pytest.approx(left_s, abs=120)
            assert f"{midnight:%Y-%m-%dT%H:%M}Z" in cloud.json["error"]["message"]
        assert len(p.cloud.posts) == 1


@pytest.mark.fault("B32")
async def test_the_other_surfaces_answer_from_the_edge_too(pair):
    bodies = {"/v1/messages": {**chat(HARD), "max_tokens": 10}, "/v1/responses": {"input": HARD}}
    async with pair(budget={"daily_usd": 0}) as p:
        for path, body in bodies.items():
            for stream in (False, True):
                said = body | {"model": "auto", "stream": stream}
                got = await ask(port_of(p.gateway), path, said)
                assert (got.status, got.headers["x-hybridge-degraded"]) == (200, "true")
                refused = await ask(port_of(p.gateway), path, said | {"model": "c"})
                assert refused.status == 429
        assert p.cloud.posts == []
