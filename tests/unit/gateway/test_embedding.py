"""The story of one embedding request, on scripted embedders."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridge.budget.allowance import Limits
from hybridge.core.backend import Price
from hybridge.core.clock import Deadline
from hybridge.core.embedding import EmbeddingCall, EmbeddingRequest
from hybridge.core.errors import (
    BackendError,
    BudgetExhausted,
    Fault,
    HybridgeError,
    NotServed,
    PrivacyNoLocalPath,
    RateLimited,
    RequestError,
    UnknownModel,
    Unsupported,
)
from hybridge.core.events import AttemptFailed, Served
from hybridge.core.plan import Route
from hybridge.core.request import Clearance, Tier, Wish
from hybridge.execution.egress import GuardedEmbedder
from hybridge.privacy.config import PrivacyConfig
from hybridge.testing.backend import Hang
from hybridge.testing.clock import ManualClock
from hybridge.testing.embedding import (
    ScriptedEmbedder,
    Vectored,
    embedder_spec,
    embedding_gateway,
    embedding_request,
    vector_of,
)

pytestmark = pytest.mark.anyio
PRIVATE = "My e-mail address is alice.smith@example.com"
CHINESE = "今天天气怎么样，我们去公园散步吧"
ENGLISH = frozenset({"en"})


def near(name: str = "near", *steps: object, **more: object) -> ScriptedEmbedder:
    return ScriptedEmbedder(embedder_spec(name, **more), *steps)


def far(name: str = "far", *steps: object, **more: object) -> ScriptedEmbedder:
    price = Price(Decimal("0.02"), Decimal(0))
    return ScriptedEmbedder(embedder_spec(name, Tier.CLOUD, **({"price": price} | more)), *steps)


def wishing(asked: EmbeddingRequest, **wish: object) -> EmbeddingRequest:
    return replace(asked, request=replace(asked.request, wish=Wish(**wish)))


async def test_auto_is_the_one_model_that_was_configured():
    local, cloud = near(), far()
    reply = await embedding_gateway(local, cloud, auto="far").embed(embedding_request("hello"))
    assert (len(local.calls), len(cloud.calls)) == (0, 1)
    assert reply.report.route is Route.DIRECT
    assert reply.report.model == "far-model"
    assert reply.report.reasons == ("auto is far for embeddings, by configuration",)


@pytest.mark.parametrize("name", ["near", "near-model"])
async def test_a_model_is_named_by_its_backend_or_by_its_own_name(name):
    local = near()
    reply = await embedding_gateway(far(), local).embed(embedding_request("hi", model=name))
    assert len(local.calls) == 1
    assert reply.report.reasons == (f"the caller named {name}",)


async def test_an_unknown_model_is_answered_with_those_there_are():
    with pytest.raises(UnknownModel, match=r"known: auto, near \(near-model\), same") as no:
        await embedding_gateway(near(), near("same", model="same")).embed(
            embedding_request("hi", model="gpt-4o")
        )
    assert no.value.param == "model"


async def test_no_other_model_stands_in_for_one_that_fails():
    broken = BackendError("told to fail", backend="far", fault=Fault.SERVER, status=500)
    local = near()
    with pytest.raises(BackendError, match="told to fail"):
        await embedding_gateway(far("far", broken), local).embed(embedding_request("hello"))
    assert not local.calls


@given(texts=st.lists(st.text("abc ", min_size=1, max_size=9), min_size=1, max_size=12))
async def test_the_vectors_are_in_the_order_of_the_inputs(texts):
    reply = await embedding_gateway(near()).embed(embedding_request(*texts))
    assert np.array_equal(reply.vectors, np.stack([vector_of(text) for text in texts]))


@given(
    texts=st.lists(st.sampled_from(["hello", "weather", CHINESE]), min_size=0, max_size=5),
    private=st.sampled_from(
        [PRIVATE, "call me at +86 138 1234 5678", "我的身份证号是11010519491231002X"]
    ),
    place=st.integers(0, 5),
    model=st.sampled_from(["auto", "far", "near"]),
    auto=st.sampled_from(["far", "near"]),
)
async def test_a_private_text_reaches_no_cloud(texts, private, place, model, auto):
    inputs = [*texts[:place], private, *texts[place:]]
    local, cloud, beside = near(languages=ENGLISH), far(), far("trap", leaves_device=False)
    gateway = embedding_gateway(local, cloud, beside, auto=auto)
    try:
        reply = await gateway.embed(embedding_request(*inputs, model=model))
        assert reply.report.tier == "edge"
    except HybridgeError:
        pass
    assert not cloud.calls
    assert not beside.calls


async def test_a_private_text_without_a_local_model_has_no_way():
    with pytest.raises(PrivacyNoLocalPath, match="no embedding model is on this device"):
        await embedding_gateway(far()).embed(embedding_request("fine", PRIVATE))


async def test_who_may_not_go_to_the_cloud_is_told_what_there_is_here():
    with pytest.raises(PrivacyNoLocalPath, match="on this device there is near"):
        await embedding_gateway(far(), near()).embed(embedding_request(PRIVATE))


async def test_the_caller_may_keep_a_request_here():
    cloud = far()
    with pytest.raises(PrivacyNoLocalPath):
        await embedding_gateway(cloud).embed(wishing(embedding_request("hello"), private=True))
    assert not cloud.calls


async def test_a_blocked_text_is_refused_with_its_field():
    policy = PrivacyConfig(action="block")
    with pytest.raises(RequestError, match=r"EMAIL in input\[1\]") as no:
        await embedding_gateway(near(), privacy=policy).embed(embedding_request("fine", PRIVATE))
    assert (no.value.param, no.value.code) == ("input", "privacy_blocked")


async def test_the_door_is_shut_even_where_planning_is_wrong():
    cloud = far()
    asked = embedding_request("hello")
    bound = replace(asked, request=replace(asked.request, clearance=Clearance.DEVICE_ONLY))
    call = EmbeddingCall(bound, Deadline.after(1, ManualClock()))
    with pytest.raises(BackendError) as refused:
        await GuardedEmbedder(cloud).embed(call)
    assert refused.value.fault is Fault.REFUSED
    assert not cloud.calls


@pytest.mark.parametrize("text", [CHINESE, "How do I say 你好吗 politely?", "Привет, как дела?"])
async def test_a_text_that_the_model_cannot_read_is_refused_with_those_that_can(text):
    local = near(languages=ENGLISH)
    gateway = embedding_gateway(local, far(), near("bilingual"))
    with pytest.raises(Unsupported, match="name a model that can: far, bilingual") as no:
        await gateway.embed(embedding_request("fine", text))
    assert (no.value.param, no.value.code) == ("input[1]", "unsupported_language")
    assert not local.calls


async def test_where_nobody_can_read_it_the_operator_is_told():
    with pytest.raises(Unsupported, match=r"can add one to embeddings\.backends"):
        await embedding_gateway(near(languages=ENGLISH)).embed(embedding_request(CHINESE))


async def test_a_private_text_that_only_a_cloud_can_read_has_no_way():
    gateway = embedding_gateway(near(languages=ENGLISH), far())
    with pytest.raises(PrivacyNoLocalPath, match="written in Chinese"):
        await gateway.embed(embedding_request("我的身份证号是11010519491231002X"))


async def test_a_private_text_in_another_language_is_pointed_to_local_models_only():
    gateway = embedding_gateway(near(languages=ENGLISH), far(), near("bilingual"))
    with pytest.raises(Unsupported, match="name a model that can: bilingual$"):
        await gateway.embed(embedding_request("我的身份证号是11010519491231002X"))


@pytest.mark.parametrize("text", ["naïve café", "x = 3 × 5", "“quoted” – so", "α and β decay"])
async def test_a_foreign_letter_does_not_make_a_foreign_text(text):
    local = near(languages=ENGLISH)
    await embedding_gateway(local).embed(embedding_request(text))
    assert local.calls


async def test_token_ids_are_for_models_that_read_them():
    cloud = far()
    gateway = embedding_gateway(near(), cloud)
    with pytest.raises(Unsupported, match="reads text, not token ids") as no:
        await gateway.embed(embedding_request([1, 2], [3]))
    assert no.value.param == "input"
    reply = await gateway.embed(embedding_request([1, 2], [3], model="far"))
    assert cloud.calls[0].asked.inputs == ((1, 2), (3,))
    assert reply.report.reasons[0] == "privacy: token ids not examined: 2 inputs of them"


async def test_dimensions_that_a_model_cannot_give_are_refused():
    gateway = embedding_gateway(near(), far())
    with pytest.raises(Unsupported, match="gives 8 dimensions and no fewer") as no:
        await gateway.embed(embedding_request("hi", dimensions=4))
    assert no.value.param == "dimensions"
    same = await gateway.embed(embedding_request("hi", dimensions=8))
    shorter = await gateway.embed(embedding_request("hi", dimensions=4, model="far"))
    assert (same.vectors.shape, shorter.vectors.shape) == ((1, 8), (1, 4))


@pytest.mark.parametrize(("tier", "model"), [(Tier.CLOUD, "near"), (Tier.EDGE, "far")])
async def test_a_wish_for_the_other_tier_is_not_possible(tier, model):
    gateway = embedding_gateway(near(), far())
    with pytest.raises(Unsupported) as no:
        await gateway.embed(wishing(embedding_request("hi", model=model), tier=tier))
    assert no.value.param == "x-hybridge-route"


async def test_a_breaker_that_is_open_says_when_to_come_back():
    busy = BackendError("busy", backend="far", fault=Fault.BUSY, status=503, retry_after_s=7)
    cloud = far("far", busy, Vectored())
    gateway = embedding_gateway(cloud, clock=ManualClock())
    with pytest.raises(BackendError, match="busy"):
        await gateway.embed(embedding_request("hi"))
    with pytest.raises(NotServed) as no:
        await gateway.embed(embedding_request("hi"))
    assert no.value.retry_after_s == 7
    assert len(cloud.calls) == 1


async def test_the_deadline_ends_it():
    gateway = embedding_gateway(far("far", Hang()), deadline_s=0.1)
    with pytest.raises(BackendError) as late:
        await gateway.embed(embedding_request("hi"))
    assert late.value.fault is Fault.TIMEOUT


async def test_what_was_spent_is_reported_and_counted():
    told = []
    gateway = embedding_gateway(far(), daily_usd=Decimal(1), watch=told.append)
    reply = await gateway.embed(embedding_request("one", "two"))
    assert reply.report.cost_usd == Decimal(2) * Decimal("0.02") / 1_000_000
    (served,) = told
    assert isinstance(served, Served)
    assert (served.route, served.tier, served.backend) == (Route.DIRECT, Tier.CLOUD, "far")
    assert (served.usage.prompt_tokens, served.cost_usd) == (2, reply.report.cost_usd)
    assert served.error is None


async def test_the_local_model_costs_nothing_and_is_never_over_budget():
    gateway = embedding_gateway(near(), far(), daily_usd=Decimal(0))
    assert (await gateway.embed(embedding_request("hi"))).report.cost_usd == 0
    with pytest.raises(BudgetExhausted, match="far: daily budget"):
        await gateway.embed(embedding_request("hi", model="far"))


async def test_a_budget_is_not_overrun_by_requests_at_the_same_time():
    dear = Price(Decimal(100_000), Decimal(0))  # ten cents a token
    cloud = far("far", Vectored(), price=dear)
    gateway = embedding_gateway(cloud, daily_usd=Decimal("0.5"))
    outcomes = await asyncio.gather(
        *(gateway.embed(embedding_request(f"word{i}")) for i in range(20)), return_exceptions=True
    )
    refused = [one for one in outcomes if isinstance(one, BudgetExhausted)]
    assert len(refused) + len(cloud.calls) == 20
    assert len(cloud.calls) <= 6


async def test_what_failed_gives_its_money_back():
    dear = Price(Decimal(100_000), Decimal(0))
    broken = BackendError("told to fail", backend="far", fault=Fault.CALLER, status=400)
    gateway = embedding_gateway(far("far", broken, Vectored(), price=dear), daily_usd=Decimal(1))
    for _ in range(3):
        await asyncio.gather(gateway.embed(embedding_request("hi")), return_exceptions=True)
    assert (await gateway.embed(embedding_request("hi"))).usage.prompt_tokens == 1


async def test_an_unknown_price_is_an_unknown_cost():
    reply = await embedding_gateway(far(price=None)).embed(embedding_request("hi"))
    assert reply.report.cost_usd is None


async def test_tokens_are_estimated_where_nobody_counts():
    reply = await embedding_gateway(near("near", Vectored(usage=False))).embed(
        embedding_request("one two three", "four")
    )
    assert reply.usage.estimated
    assert reply.usage.prompt_tokens >= 4


async def test_a_failure_is_told_to_those_who_watch():
    told = []
    broken = BackendError("told to fail", backend="near", fault=Fault.SERVER)
    gateway = embedding_gateway(near("near", broken), watch=told.append)
    with pytest.raises(BackendError):
        await gateway.embed(embedding_request("hi"))
    failed, served = told
    assert isinstance(failed, AttemptFailed)
    assert (failed.backend, failed.fault) == ("near", Fault.SERVER)
    assert (served.error, served.backend, served.route) == ("BackendError", None, None)


async def test_who_hangs_up_is_noted_and_frees_the_breaker():
    told = []
    gateway = embedding_gateway(near("near", Hang(), Vectored()), watch=told.append)
    asking = asyncio.ensure_future(gateway.embed(embedding_request("hi")))
    await asyncio.sleep(0.01)
    asking.cancel()
    await asyncio.wait({asking})
    assert told[0].error == "cancelled"
    await gateway.embed(embedding_request("hi"))


async def test_a_cloud_that_was_asked_in_vain_is_paid_for():
    told = []
    gateway = embedding_gateway(far("far", Hang()), watch=told.append)
    asking = asyncio.ensure_future(gateway.embed(embedding_request("hi")))
    await asyncio.sleep(0.01)
    asking.cancel()
    await asyncio.wait({asking})
    assert told[0].usage.estimated
    assert told[0].cost_usd > 0


async def test_a_keys_limits_hold_here_too():
    told = []
    gateway = embedding_gateway(near(), limits=Limits(rpm=1), watch=told.append)
    await gateway.embed(embedding_request("hi"))
    with pytest.raises(RateLimited, match="may ask 1 times a minute"):
        await gateway.embed(embedding_request("hi"))
    assert len(told) == 1


async def test_tokens_of_a_limited_key_are_those_that_were_counted():
    gateway = embedding_gateway(near(), limits=Limits(tpm=40), clock=ManualClock())
    for _ in range(4):  # each is estimated at more than the one token that it then costs
        await gateway.embed(embedding_request("a few words more than that are sent here"))


async def test_nobody_who_watches_can_fail_a_reply():
    def broken(_: object) -> None:
        raise RuntimeError("told to break")

    reply = await embedding_gateway(near(), watch=broken).embed(embedding_request("hi"))
    assert len(reply.vectors) == 1


def test_the_models_are_listed_in_their_order():
    gateway = embedding_gateway(near(), far())
    assert [spec.name for spec in gateway.models()] == ["near", "far"]
