"""The decision: pure, complete and obedient (R3-R9)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridge.core.backend import BackendSpec
from hybridge.core.errors import (
    HybridgeError,
    NotServed,
    PrivacyNoLocalPath,
    UnknownModel,
    Unsupported,
)
from hybridge.core.plan import Plan, Route, Score, Thresholds
from hybridge.core.request import Clearance, Feature, Message, Request, Tier, Wish
from hybridge.routing.facts import gather
from hybridge.routing.router import Candidate, plan
from hybridge.routing.rules import Verdict
from hybridge.routing.session import SessionView

EVERYTHING = frozenset(Feature)
GREETING = Verdict("greeting", Tier.EDGE, None, "rule greeting: a greeting")
PROOF = Verdict("proof", None, 9.0, "rule proof: a proof")
NEW = SessionView()


def edge(name: str = "local", **more: Any) -> Candidate:
    known = {"unavailable", "latency_s", "retry_after_s"}
    state = {key: more.pop(key) for key in known & more.keys()}
    spec = BackendSpec(name, Tier.EDGE, f"{name}-model", **({"leaves_device": False} | more))
    return Candidate(spec, **state)


def cloud(name: str = "gpt", **more: Any) -> Candidate:
    found = edge(name, **({"features": EVERYTHING, "leaves_device": True} | more))
    return replace(found, spec=replace(found.spec, tier=Tier.CLOUD))


def scored(value: float) -> Score:
    return Score(p=(value - 1) / 9, source="prior", version="1", reasons=("long text",))


def decide(
    text: str = "What is rain made of, and where does it come from in the end?", **more: Any
) -> Plan:
    known = {
        "verdict",
        "score",
        "session",
        "thresholds",
        "candidates",
        "fallbacks",
        "shadow_draw",
        "shadow_rate",
    }
    given_ = {key: more.pop(key) for key in known & more.keys()}
    request = Request("r", more.pop("model", "auto"), (Message("user", text),), {}, **more)
    defaults = {
        "verdict": None, "score": scored(3), "session": NEW, "thresholds": Thresholds(),
        "candidates": [edge(), cloud()],
    }  # fmt: skip
    return plan(request, gather(request), **(defaults | given_))


def walk(made: Plan) -> list[tuple[str, str]]:
    return [(attempt.backend, attempt.route.value) for attempt in made.attempts]


@pytest.mark.parametrize(
    ("value", "route"),
    [(1.0, "edge_classified"), (4.4, "edge_classified"), (4.5, "shadow"), (6.4, "shadow"),
     (6.5, "cloud_classified"), (10.0, "cloud_classified")],
)  # fmt: skip
def test_bands(value: float, route: str) -> None:
    made = decide(score=scored(value))
    assert made.route == route
    assert made.score is not None
    assert made.score.value == pytest.approx(value)
    assert made.reasons[0] == f"score {value:.1f} (prior)"


def test_edge_first_then_the_cloud_behind_it() -> None:
    made = decide()
    assert walk(made) == [("local", "edge_classified"), ("gpt", "cloud_fallback")]
    assert [attempt.judged for attempt in made.attempts] == [True, False]
    assert made.reasons[-1] == "3 is within edge_max 4"


def test_cloud_first_then_the_edge_behind_it() -> None:
    made = decide(score=scored(8))
    assert walk(made) == [("gpt", "cloud_classified"), ("local", "edge_degraded")]
    assert made.shadow is None
    assert made.notice is None


def test_the_band_asks_both() -> None:
    made = decide(score=scored(5))
    assert walk(made) == [("gpt", "shadow"), ("local", "edge_degraded")]
    assert (made.shadow, made.propensity) == ("local", 1.0)


def test_a_rule_settles_without_a_score() -> None:
    made = decide(verdict=GREETING, score=None)
    assert made.route is Route.EDGE_RULE
    assert made.score is None
    assert made.reasons == ("rule greeting: a greeting",)


def test_a_rule_may_raise_the_score() -> None:
    made = decide(verdict=PROOF, score=scored(2.5))
    assert made.route is Route.CLOUD_CLASSIFIED
    assert made.score is not None
    assert made.score.value == pytest.approx(9.0)
    assert "rule proof: a proof: score raised from 2.5 to 9.0" in made.reasons
    kept = decide(verdict=PROOF, score=scored(9.5))
    assert kept.score is not None
    assert kept.score.value == pytest.approx(9.5)


def test_a_session_of_small_talk_does_not_hide_a_proof() -> None:
    session = SessionView((1.0, 1.0), Tier.EDGE)
    assert decide(verdict=PROOF, score=scored(2), session=session).route is Route.CLOUD_CLASSIFIED


@pytest.mark.parametrize("value", [1.0, 5.5, 10.0])
@pytest.mark.parametrize("verdict", [None, PROOF])
@pytest.mark.parametrize(
    "session", [NEW, SessionView((9.0, 9.0), Tier.CLOUD), SessionView((1.0,), Tier.EDGE)]
)
@pytest.mark.parametrize(
    "text", ["and why?", "Tell me everything there is to know about rain and its origins."]
)
def test_the_extremes_rule_over_everything_scored(
    value: float, verdict: Verdict | None, session: SessionView, text: str
) -> None:
    all_of_it = {"score": scored(value), "verdict": verdict, "session": session}
    assert decide(text, thresholds=Thresholds(10, 11), **all_of_it).route is Route.EDGE_CLASSIFIED
    assert decide(text, thresholds=Thresholds(0, 1), **all_of_it).route is Route.CLOUD_CLASSIFIED
    assert decide(text, thresholds=Thresholds(0, 11), **all_of_it).route is Route.SHADOW


def test_without_a_score_the_cloud_answers() -> None:
    made = decide(score=None)
    assert made.route is Route.CLOUD_CLASSIFIED
    assert "no score: cloud by default" in made.reasons
    assert decide(score=None, thresholds=Thresholds(10, 11)).route is Route.EDGE_CLASSIFIED


def test_the_mean_of_the_session_decides() -> None:
    made = decide(score=scored(4), session=SessionView((9.0, 9.0), Tier.CLOUD))
    assert made.route is Route.CLOUD_CLASSIFIED
    assert "mean of the session's last 3 scores: 7.3" in made.reasons
    assert made.score is not None
    assert made.score.value == pytest.approx(4.0)
    assert (
        decide(score=scored(7), session=SessionView((2.0, 2.0), Tier.EDGE)).route
        is Route.EDGE_CLASSIFIED
    )


@pytest.mark.parametrize("text", ["and why?", "继续", "那第二个呢", "thanks"])
def test_a_short_follow_up_stays_in_the_cloud(text: str) -> None:
    session = SessionView((2.0, 2.0), Tier.CLOUD)
    by_score = decide(text, score=scored(1), session=session)
    by_rule = decide(text, verdict=GREETING, score=None, session=session)
    assert by_score.route is by_rule.route is Route.CLOUD_CLASSIFIED
    assert by_score.reasons[-1] == "a short follow-up: the session stays in the cloud"
    assert (
        decide(text, score=scored(1), session=SessionView((2.0,), Tier.EDGE)).route
        is Route.EDGE_CLASSIFIED
    )
    assert decide(score=scored(1), session=session).route is Route.EDGE_CLASSIFIED


@pytest.mark.parametrize(
    ("tier", "route"), [(Tier.EDGE, "edge_classified"), (Tier.CLOUD, "cloud_classified")]
)
@pytest.mark.parametrize("value", [1.0, 5.0, 9.0])
def test_the_callers_wish(tier: Tier, route: str, value: float) -> None:
    made = decide(wish=Wish(tier=tier), score=scored(value))
    other = "gpt" if tier is Tier.EDGE else "local"
    assert made.route == route
    assert len(made.attempts) == 1
    assert f"the caller asked for the {tier.value}" in made.reasons
    assert [(d.backend, d.reason) for d in made.dropped] == [
        (other, f"the caller asked for the {tier.value}")
    ]
    assert made.notice is None
    assert made.shadow is None


def test_a_rule_keeps_its_name_where_the_caller_agrees() -> None:
    assert decide(wish=Wish(tier=Tier.EDGE), verdict=GREETING, score=None).route is Route.EDGE_RULE
    assert (
        decide(wish=Wish(tier=Tier.CLOUD), verdict=GREETING, score=None).route
        is Route.CLOUD_CLASSIFIED
    )


def test_a_wish_for_a_tier_that_is_down_or_not_there() -> None:
    down = [edge(), cloud(unavailable="breaker open", retry_after_s=7.0)]
    with pytest.raises(NotServed) as gone:
        decide(wish=Wish(tier=Tier.CLOUD), candidates=down)
    assert gone.value.retry_after_s == 7.0
    with pytest.raises(Unsupported, match="asks for the cloud") as missing:
        decide(wish=Wish(tier=Tier.CLOUD), candidates=[edge()])
    assert missing.value.param == "x-hybridge-route"


def test_a_latency_limit_drops_only_what_was_measured_slower() -> None:
    field = [edge(latency_s=0.2), cloud(latency_s=2.0), cloud("new")]
    made = decide(wish=Wish(max_latency_s=0.5), score=scored(9), candidates=field)
    assert walk(made) == [("new", "cloud_classified"), ("local", "edge_degraded")]
    assert made.dropped[0].reason == "too slow: 2000 ms measured, 500 ms allowed"
    only_edge = decide(wish=Wish(max_latency_s=0.5), score=scored(9), candidates=field[:2])
    assert only_edge.route is Route.EDGE_CLASSIFIED
    with pytest.raises(Unsupported, match="as fast as"):
        decide(wish=Wish(max_latency_s=0.1), candidates=field[:2])


@pytest.mark.parametrize("value", [5.0, 9.0])
def test_no_cloud_is_degradation_and_says_why(value: float) -> None:
    alone = decide(score=scored(value), candidates=[edge()])
    assert walk(alone) == [("local", "edge_degraded")]
    assert alone.notice == "No cloud is configured; this answer comes from the edge model."
    assert alone.shadow is None
    broke = decide(
        score=scored(value), candidates=[edge(), cloud(unavailable="daily budget of 100 USD spent")]
    )
    assert broke.route is Route.EDGE_DEGRADED
    assert broke.notice == (
        "The cloud is unavailable: daily budget of 100 USD spent; "
        "this answer comes from the edge model."
    )
    assert [d.backend for d in broke.dropped] == ["gpt"]


def test_no_edge_is_a_fallback_where_it_failed_and_a_decision_where_it_cannot() -> None:
    assert decide(candidates=[cloud()]).route is Route.CLOUD_FALLBACK
    down = decide(candidates=[edge(unavailable="loading"), cloud()])
    assert walk(down) == [("gpt", "cloud_fallback")]
    assert down.reasons[-1] == "the edge is unavailable: loading"
    unable = decide(features=frozenset({Feature.IMAGES}))
    assert walk(unable) == [("gpt", "cloud_classified")]
    assert unable.reasons[-1] == "the edge is ruled out: cannot do: images"
    assert decide(score=scored(5), candidates=[cloud()]).route is Route.CLOUD_CLASSIFIED


def test_private_stays_on_this_device() -> None:
    field = [edge(), edge("remote", leaves_device=True), cloud()]
    for private in ({"clearance": Clearance.DEVICE_ONLY}, {"wish": Wish(private=True)}):
        made = decide(score=scored(9), candidates=field, **private)
        assert walk(made) == [("local", "edge_private")]
        assert {d.backend for d in made.dropped} == {"remote", "gpt"}
        assert all(d.reason.startswith("privacy: ") for d in made.dropped)


@pytest.mark.parametrize(
    "more",
    [
        {"candidates": [cloud()]},
        {"candidates": [edge(leaves_device=True)]},
        {"features": frozenset({Feature.IMAGES})},
        {"text": "长" * 5000, "candidates": [edge(context_tokens=1024), cloud()]},
        {"wish": Wish(tier=Tier.CLOUD)},
        {"model": "gpt"},
        {"model": "gpt-model"},
    ],
)
def test_private_without_a_local_path_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(PrivacyNoLocalPath):
        decide(clearance=Clearance.DEVICE_ONLY, **more)


def test_private_while_the_edge_is_down_may_be_tried_again() -> None:
    with pytest.raises(NotServed) as raised:
        decide(clearance=Clearance.DEVICE_ONLY, candidates=[edge(unavailable="loading"), cloud()])
    assert raised.value.code == "privacy_local_unavailable"


@pytest.mark.parametrize(
    ("feature", "param"),
    [(Feature.IMAGES, "messages"), (Feature.TOOLS, "tools"), (Feature.CHOICES, "n"),
     (Feature.JSON_SCHEMA, "response_format"), (Feature.REASONING, "reasoning_effort")],
)  # fmt: skip
def test_what_nobody_can_do_is_refused_by_name(feature: Feature, param: str) -> None:
    with pytest.raises(Unsupported, match=feature.value) as raised:
        decide(features=frozenset({feature}), candidates=[edge()])
    assert raised.value.param == param


def test_too_long_for_the_edge_goes_to_the_cloud_with_numbers() -> None:
    field = [edge(context_tokens=1024), cloud(context_tokens=128_000)]
    made = decide("模型" * 750, max_tokens=100, score=scored(1), candidates=field)
    assert walk(made) == [("gpt", "cloud_classified")]
    assert made.dropped[0].reason.startswith("too long: about 16")
    assert made.dropped[0].reason.endswith("+ 100 answer), its context is 1024")


def test_too_long_for_everybody() -> None:
    field = [edge(context_tokens=512), cloud(context_tokens=2048)]
    with pytest.raises(Unsupported, match="longest context here is 2048 tokens") as raised:
        decide("长" * 3000, candidates=field)
    assert raised.value.code == "context_length_exceeded"


def test_everybody_down_names_the_shortest_wait() -> None:
    field = [
        edge(unavailable="loading"),
        cloud(unavailable="breaker open", retry_after_s=9.0),
        cloud("b", unavailable="breaker open", retry_after_s=4.0),
    ]
    with pytest.raises(NotServed, match="local: loading") as raised:
        decide(candidates=field)
    assert raised.value.retry_after_s == 4.0
    assert raised.value.code == "unavailable"
    with pytest.raises(NotServed):
        decide(candidates=[])


def test_a_named_model_is_direct() -> None:
    for model in ("gpt", "gpt-model"):
        made = decide(model=model, score=None)
        assert walk(made) == [("gpt", "direct")]
        assert made.reasons == (f"the caller named {model}",)
    named_like_a_model = [cloud("a"), cloud("a-model")]
    assert walk(decide(model="a-model", candidates=named_like_a_model)) == [("a-model", "direct")]
    private = decide(model="local", clearance=Clearance.DEVICE_ONLY)
    assert walk(private) == [("local", "direct")]


def test_an_unknown_model_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"known: auto, local \(local-model\), gpt") as raised:
        decide(model="gtp")
    assert (raised.value.param, raised.value.code) == ("model", "model_not_found")


def test_a_named_model_that_is_down_has_only_its_own_fallbacks() -> None:
    field = [edge(), cloud(unavailable="breaker open", retry_after_s=3.0), cloud("b")]
    with pytest.raises(NotServed) as raised:
        decide(model="gpt", candidates=field)
    assert raised.value.retry_after_s == 3.0
    made = decide(model="gpt", candidates=field, fallbacks={"gpt": ["b", "local", "nobody"]})
    assert walk(made) == [("b", "direct"), ("local", "edge_degraded")]
    assert made.notice == "gpt cannot be asked now; this answer comes from b."
    well = decide(model="gpt", fallbacks={"gpt": ["local"]})
    assert walk(well) == [("gpt", "direct"), ("local", "edge_degraded")]
    with pytest.raises(Unsupported, match="x-hybridge-route"):
        decide(model="gpt", wish=Wish(tier=Tier.EDGE))


def test_comparing_at_random_outside_the_band() -> None:
    drawn = {"shadow_draw": 0.01, "shadow_rate": 0.05}
    easy, hard = decide(score=scored(2), **drawn), decide(score=scored(9), **drawn)
    assert (easy.route, easy.shadow, easy.propensity) == (Route.SHADOW, "local", 0.05)
    assert (hard.route, hard.shadow, hard.propensity) == (Route.CLOUD_CLASSIFIED, "local", 0.05)
    assert decide(score=scored(5), **drawn).propensity == 0.05
    assert decide(score=scored(2), shadow_draw=0.06, shadow_rate=0.05).shadow is None
    assert decide(verdict=GREETING, score=None, **drawn).shadow is None
    assert decide(thresholds=Thresholds(10, 11), **drawn).route is Route.EDGE_CLASSIFIED


features = st.frozensets(st.sampled_from([Feature.IMAGES, Feature.TOOLS]), max_size=2)
states: dict[str, st.SearchStrategy[Any]] = {
    "unavailable": st.none() | st.just("down"),
    "latency_s": st.none() | st.floats(0, 3),
    "features": features,
    "context_tokens": st.none() | st.sampled_from([64, 400, 8000]),
    "leaves_device": st.booleans(),
}
fields = st.lists(
    st.builds(lambda make, **state: (make, state), st.sampled_from([edge, cloud]), **states),
    max_size=4,
).map(lambda rows: [make(f"b{i}", **state) for i, (make, state) in enumerate(rows)])
wishes = st.builds(
    Wish,
    tier=st.none() | st.sampled_from(Tier),
    max_latency_s=st.none() | st.floats(0.1, 3),
    private=st.booleans(),
)
thresholds = st.tuples(st.integers(0, 10), st.integers(1, 11)).filter(lambda t: t[0] < t[1])
requests = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["hi", "and why?", "继续", "word " * 200, "为什么" * 100]),
        "model": st.sampled_from(["auto", "auto", "auto", "b0", "b1-model"]),
        "candidates": fields,
        "wish": wishes,
        "features": features,
        "clearance": st.sampled_from(Clearance),
        "verdict": st.sampled_from([None, GREETING, PROOF]),
        "score": st.none() | st.floats(1, 10).map(scored),
        "session": st.builds(
            SessionView,
            st.lists(st.floats(1, 10), max_size=2).map(tuple),
            st.none() | st.sampled_from(Tier),
        ),
        "thresholds": thresholds.map(lambda t: Thresholds(*t)),
        "shadow_draw": st.floats(0, 1),
        "shadow_rate": st.sampled_from([0.0, 0.5, 1.0]),
        "fallbacks": st.sampled_from([{}, {"b0": ["b1", "b2"]}]),
    }
)


def attempt(asked: dict[str, Any]) -> Plan | None:
    try:
        return decide(**asked)
    except HybridgeError:
        return None


@given(requests)
def test_every_plan_is_sound(asked: dict[str, Any]) -> None:
    made = attempt(asked)
    if made is None:
        return
    names = [each.backend for each in made.attempts]
    gone = [each.backend for each in made.dropped]
    specs = {c.name: c.spec for c in asked["candidates"]}
    assert names
    assert len(set(names)) == len(names)
    assert not set(names) & set(gone)
    assert all(each.reason for each in made.dropped)
    assert made.route is made.attempts[0].route
    assert made.reasons
    assert all(specs[each.backend].tier is each.tier for each in made.attempts)
    assert all(asked["features"] <= specs[name].features for name in names)
    if asked["model"] == "auto":
        assert {*names, *gone} == set(specs)
    if asked["clearance"] is Clearance.DEVICE_ONLY or asked["wish"].private:
        assert not any(specs[name].leaves_device for name in names)
        assert made.shadow is None
    if made.shadow is not None:
        assert made.shadow in names
        assert specs[made.shadow].tier is Tier.EDGE
        assert made.attempts[0].tier is Tier.CLOUD


@given(requests, wishes)
def test_a_wish_only_removes(asked: dict[str, Any], wish: Wish) -> None:
    free = attempt(asked | {"wish": Wish()})
    bound = attempt(asked | {"wish": wish})
    if bound is not None:
        assert free is not None
        assert {a.backend for a in bound.attempts} <= {a.backend for a in free.attempts}


@given(requests)
def test_the_extremes_are_obeyed(asked: dict[str, Any]) -> None:
    asked = asked | {"model": "auto", "clearance": Clearance.ANYWHERE, "wish": Wish()}
    if asked["verdict"] is GREETING:
        asked["verdict"] = None
    for bounds, first in ((Thresholds(10, 11), Tier.EDGE), (Thresholds(0, 1), Tier.CLOUD)):
        made = attempt(asked | {"thresholds": bounds})
        if made is not None and first in {a.tier for a in made.attempts}:
            assert made.attempts[0].tier is first


@given(requests)
def test_the_same_question_gets_the_same_plan(asked: dict[str, Any]) -> None:
    assert attempt(asked) == attempt(asked)
