"""Every route, black box: a started gateway between two real HTTP servers (R1-R10)."""

from __future__ import annotations

import asyncio

import pytest

from hybridge.testing.replies import END, cut, fails, hangs, says, slowly

pytestmark = pytest.mark.anyio

TRIVIAL = [
    "Hello!",
    "Correct the spelling: I recieve teh letter.",
    "你好",
    "请改正错别字：我今天很高心。",
]
PROOFS = [
    "Prove that there are infinitely many prime numbers, step by step.",
    "请一步一步证明：根号二是无理数。",
]
UNSURE = says("Perhaps it is something else entirely, who knows.", logprob=-2.5)
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@BOTH_WAYS
@pytest.mark.parametrize("prompt", TRIVIAL)
async def test_trivial_requests_go_to_the_edge_by_rule(pair, prompt, stream):
    async with pair() as p:
        answer = await p.gateway.chat(prompt, stream=stream)
        assert (answer.status, answer.account["route"]) == (200, "edge_rule")
        assert answer.headers["x-hybridge-route"] == "edge_rule"
        assert answer.text == "Hello from the edge."
        assert not p.cloud.posts


@BOTH_WAYS
@pytest.mark.parametrize("prompt", PROOFS)
async def test_proofs_go_to_the_cloud(pair, prompt, stream):
    async with pair() as p:
        answer = await p.gateway.chat(prompt, stream=stream)
        assert (answer.status, answer.account["route"]) == (200, "cloud_classified")
        assert answer.account["score"] >= 6.5
        assert answer.text == "Hello from the cloud."
        assert not p.edge.posts


@BOTH_WAYS
async def test_the_band_shadows_and_returns_the_clouds_answer(pair, stream):
    async with pair(routing={"edge_max": 0, "cloud_min": 11}) as p:
        answer = await p.gateway.chat("What causes the seasons on Earth?", stream=stream)
        assert (answer.account["route"], answer.text) == ("shadow", "Hello from the cloud.")
        await _until(lambda: p.edge.posts)
        metrics = (await p.gateway.get("/metrics")).raw.decode()
        assert "hybridge_shadow" in metrics


@pytest.mark.parametrize(
    ("bounds", "route"),
    [
        ({"edge_max": 10, "cloud_min": 11}, "edge_classified"),
        ({"edge_max": 0, "cloud_min": 1}, "cloud_classified"),
    ],
)
async def test_the_boundaries_rule_over_everything_scored(pair, bounds, route):
    async with pair(routing=bounds) as p:
        for prompt in [*PROOFS, "What causes the seasons on Earth?", "为什么天空是蓝色的？"]:
            assert (await p.gateway.chat(prompt)).account["route"] == route


@BOTH_WAYS
async def test_an_unsure_edge_answer_escalates_and_nothing_of_it_is_sent(pair, stream):
    async with pair(routing={"edge_max": 10, "cloud_min": 11}) as p:
        p.edge.then(UNSURE)
        answer = await p.gateway.chat("What causes the seasons on Earth?", stream=stream)
        assert (answer.account["route"], answer.text) == (
            "cloud_escalated",
            "Hello from the cloud.",
        )
        assert b"Perhaps" not in answer.raw
        assert len(p.edge.posts) == len(p.cloud.posts) == 1


@BOTH_WAYS
async def test_a_doubted_edge_answer_is_still_given_when_the_cloud_fails(pair, stream):
    async with pair(routing={"edge_max": 10, "cloud_min": 11}) as p:
        p.edge.then(UNSURE)
        p.cloud.then(fails(500))
        answer = await p.gateway.chat("What causes the seasons on Earth?", stream=stream)
        assert answer.account["route"] == "edge_degraded"
        assert answer.text == "Perhaps it is something else entirely, who knows."
        assert "confidence" in answer.account["notice"]
        assert len(p.edge.posts) == 1  # no route is ever tried twice


@BOTH_WAYS
async def test_a_failing_edge_falls_back_to_the_cloud(pair, stream):
    async with pair() as p:
        p.edge.then(fails(500))
        answer = await p.gateway.chat("Hello!", stream=stream)
        assert (answer.account["route"], answer.text) == ("cloud_fallback", "Hello from the cloud.")


@BOTH_WAYS
@pytest.mark.parametrize("cloud", [fails(500), fails(401), fails(429)], ids=["500", "401", "429"])
async def test_a_failing_cloud_degrades_to_the_edge_and_says_so_everywhere(pair, cloud, stream):
    async with pair() as p:
        p.cloud.then(cloud)
        answer = await p.gateway.chat(PROOFS[0], stream=stream)
        assert answer.account["route"] == "edge_degraded"
        assert answer.account["degraded"] is True
        assert answer.account["notice"]
        assert answer.headers["x-hybridge-degraded"] == "true"
        assert answer.text == "Hello from the edge."


async def test_a_stream_that_ends_before_it_said_anything_is_a_failure(pair):
    async with pair() as p:
        p.cloud.then(cut(says("One two three"), after=0, end=END))
        answer = await p.gateway.chat(PROOFS[0], stream=True)
        assert (answer.account["route"], answer.text) == ("edge_degraded", "Hello from the edge.")


async def test_a_cloud_that_fails_in_the_band_is_replaced_by_the_shadows_answer(pair):
    async with pair(routing={"edge_max": 0, "cloud_min": 11}) as p:
        p.cloud.then(fails(500))
        answer = await p.gateway.chat("What causes the seasons on Earth?")
        assert (answer.account["route"], answer.text) == ("edge_degraded", "Hello from the edge.")
        assert len(p.edge.posts) == 1


@BOTH_WAYS
async def test_with_both_gone_the_caller_is_told_when_to_come_back(pair, stream):
    async with pair() as p:
        p.edge.then(fails(500))
        p.cloud.then(fails(500))
        answer = await p.gateway.chat("Hello!", stream=stream)
        assert answer.status == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json["error"]["message"]


async def test_explaining_runs_nothing(pair):
    async with pair() as p:
        for prompt, route in [("你好", "edge_rule"), (PROOFS[1], "cloud_classified")]:
            answer = await p.gateway.chat(prompt, path="/v1/route")
            assert (answer.status, answer.json["route"]) == (200, route)
            assert answer.json["reasons"]
            assert set(answer.json["thresholds"]) == {"edge_max", "cloud_min", "version"}
        assert not p.edge.posts
        assert not p.cloud.posts


@BOTH_WAYS
async def test_a_named_model_is_direct_and_keeps_its_own_error(pair, stream):
    async with pair() as p:
        for name in ("c", "large"):
            answer = await p.gateway.chat("Hello!", model=name, stream=stream)
            assert (answer.account["route"], answer.text) == ("direct", "Hello from the cloud.")
        p.cloud.then(fails(418, "short and stout", type="teapot"))
        answer = await p.gateway.chat("Hello!", model="c", stream=stream)
        assert (answer.status, answer.json["error"]["message"]) == (418, "short and stout")
        assert not p.edge.posts


async def test_an_unknown_model_is_refused_by_name(pair):
    async with pair() as p:
        answer = await p.gateway.chat("Hello!", model="gpt-17")
        assert answer.status == 404
        assert "gpt-17" in answer.json["error"]["message"]


@BOTH_WAYS
async def test_a_private_request_never_leaves_whatever_fails(pair, stream):
    async with pair() as p:
        high = {"x-hybridge-privacy": "high"}
        answer = await p.gateway.chat(PROOFS[0], stream=stream, headers=high)
        assert answer.account["route"] == "edge_private"
        p.edge.then(UNSURE)
        assert (await p.gateway.chat(PROOFS[1], stream=stream, headers=high)).status == 200
        p.edge.then(fails(500))
        assert (await p.gateway.chat(PROOFS[0], stream=stream, headers=high)).status == 503
        assert not p.cloud.posts


@BOTH_WAYS
async def test_unknown_fields_reach_the_cloud_unchanged(pair, stream):
    extra = {"temperature": 0, "seed": 0, "x_unheard_of": {"a": [1, None]}, "logit_bias": {"1": -5}}
    async with pair() as p:
        await p.gateway.chat(PROOFS[0], stream=stream, **extra)
        sent = p.cloud.posts[-1].json
        assert {key: sent[key] for key in extra} == extra
        assert sent["model"] == "large"


@BOTH_WAYS
async def test_a_confident_edge_answer_is_taken_when_the_cloud_is_late(pair, stream):
    async with pair(routing={"edge_max": 0, "cloud_min": 11, "hedge_after_ms": 50}) as p:
        p.cloud.then(hangs())
        answer = await p.gateway.chat("What causes the seasons on Earth?", stream=stream)
        assert (answer.account["route"], answer.text) == ("shadow", "Hello from the edge.")
        received = p.cloud.posts[0]
        await asyncio.wait_for(received.gone.wait(), 5)


async def test_an_opened_breaker_is_named_and_the_edge_answers(pair):
    async with pair(execution={"breaker_failures": 2, "breaker_open_s": 60}) as p:
        p.cloud.then(fails(500))
        for _ in range(3):
            answer = await p.gateway.chat(PROOFS[0])
            assert answer.account["route"] == "edge_degraded"
        assert len(p.cloud.posts) == 2
        assert any(d["backend"] == "c" for d in answer.account["dropped"])


async def test_a_session_in_the_cloud_stays_there_for_a_short_follow_up(pair):
    async with pair() as p:
        session = {"x-session-id": "s1"}
        await p.gateway.chat(PROOFS[0], headers=session)
        answer = await p.gateway.chat("Thanks!", headers=session)
        assert answer.account["route"] == "cloud_classified"
        assert (await p.gateway.chat("Thanks!")).account["route"] == "edge_rule"


async def test_a_cloud_over_its_budget_is_not_asked(pair):
    async with pair(budget={"daily_usd": 0}) as p:
        answer = await p.gateway.chat(PROOFS[0])
        assert answer.account["route"] == "edge_degraded"
        assert "budget" in answer.account["notice"]
        assert (await p.gateway.chat("Hi", model="c")).status == 429
        assert (await p.gateway.chat("Hi", model="e")).status == 200
        assert not p.cloud.posts


async def test_a_slow_first_byte_does_not_hold_up_the_others(pair):
    async with pair() as p:
        p.cloud.then(slowly(says("late"), first_s=1.0))
        slow = asyncio.ensure_future(p.gateway.chat(PROOFS[0]))
        quick = [p.gateway.chat("Hello!") for _ in range(10)]
        assert all(a.status == 200 for a in await asyncio.gather(*quick))
        assert not slow.done()
        assert (await slow).text == "late"


async def _until(true, tries: int = 100) -> None:
    for _ in range(tries):
        if true():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never became true")
