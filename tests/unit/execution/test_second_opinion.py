"""R5: in the middle band of confidence the edge is asked once more, and nothing depends on it."""

from __future__ import annotations

import asyncio
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import AttemptFailed, Events, SecondOpinion
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.request import Clearance, Feature, Message, Request, Tier, Wish
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.egress import Guarded
from hybridge.execution.head import shipped
from hybridge.execution.opinion import Terms, ask_again
from hybridge.execution.runner import Runner
from hybridge.execution.second import moved
from hybridge.execution.second_opinion import REST_S, SecondOpinions
from hybridge.learning.agreement import agree
from hybridge.testing.backend import (
    Hang,
    Pause,
    ScriptedBackend,
    calling,
    saying,
    spec,
    whole,
)
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio
CLOCK = SystemClock()
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
LOW, HIGH, BOUND = 0.4, 0.8, 0.7
SHIFT = 0.2
TERMS = Terms(backend=None, low=LOW, high=HIGH, max_tokens=16, timeout_s=2.0)
CAPITAL = "What is the capital of Norway?"
CLOUD = saying("It is Oslo.")


class PlainJudge(Judge):
    """As sure as the tokens are on average; a second answer moves that by `SHIFT`."""

    def confidence(self, tokens, text, **_):
        return round(exp(sum(t.logprob for t in tokens) / len(tokens)), 6) if tokens else None

    def with_second(self, confidence, text, second, *, wanted, **_):
        found = agree(text, second, wanted.form, None, similarity_min=0.85)
        return confidence + (SHIFT if found.agreed else -SHIFT)


async def unlike(_one, _other):
    return None


class Watched:
    """Whom the gateway would charge for: it is told of the attempts alone."""

    def __init__(self):
        self.told = []

    def asked(self, spec):
        self.told.append(spec.name)

    def failed(self, fault):
        self.told.append(fault)


class Bench:
    """An edge that plays its scripts in turn, a cloud, and another small model next to it."""

    def __init__(self, *edge, other=None, cloud=CLOUD, terms=TERMS, similarity=unlike, **more):
        self.heard, self.clock = [], ManualClock()
        able = frozenset({Feature.TOOLS, Feature.LOGPROBS, Feature.CHOICES})
        away = {"edge": False, "other": False} | more.get("away", {})
        self.edge = ScriptedBackend(spec("edge", leaves_device=away["edge"], features=able), *edge)
        small = spec("other", leaves_device=away["other"])
        small = replace(small, version=more.get("version", ""))
        self.other = ScriptedBackend(small, other or saying("Oslo", confidence=0.9))
        self.cloud = ScriptedBackend(spec("cloud", Tier.CLOUD), cloud)
        events = Events(self.heard.append)
        every = {b.spec.name: b for b in (self.edge, self.other, self.cloud)}
        backends = {name: Guarded(backend) for name, backend in every.items()}
        self.breakers = {
            name: Breaker(name, b.spec.tier, ExecutionConfig(), CLOCK, events)
            for name, b in every.items()
        }
        refusals, judge = more.get("refusals", {}), more.get("judge", PlainJudge())
        second = SecondOpinions(
            backends,
            self.breakers,
            judge,
            terms,
            refusal=refusals.get,
            similarity=similarity,
            events=events,
            clock=self.clock,
        )
        self.runner = Runner(
            backends,
            self.breakers,
            judge,
            confidence_min=BOUND,
            accept_unknown=True,
            hold_tokens=8,
            events=events,
            clock=CLOCK,
            second_opinions=None if more.get("off") else second,
        )

    async def run(self, prompt=CAPITAL, *, alone=False, within_s=10.0, watch=None, **fields):
        """The text, the outcome and its confidence once all was read."""
        edge = Attempt("edge", Tier.EDGE, Route.EDGE_CLASSIFIED, judged=True)
        attempts = (edge,) if alone else (edge, Attempt("cloud", Tier.CLOUD, Route.CLOUD_FALLBACK))
        body = {"messages": [{"role": "user", "content": prompt}]} | fields.pop("body", {})
        request = Request("r", "auto", (Message("user", prompt),), body, **fields)
        plan = Plan(Route.EDGE_CLASSIFIED, attempts, Thresholds())
        outcome = await self.runner.run(plan, request, Deadline.after(within_s, CLOCK), watch=watch)
        text = "".join([event.text async for event in outcome.answer])
        await outcome.answer.aclose()
        return text, outcome

    @property
    def opinions(self):
        return [event for event in self.heard if isinstance(event, SecondOpinion)]

    @property
    def outcomes(self):
        return [event.outcome for event in self.opinions]


def first(confidence, text="Oslo"):
    return saying(text, confidence=confidence)


@STREAMS
async def test_a_second_answer_that_agrees_makes_it_surer(stream):
    bench = Bench(first(0.6), first(0.5))
    text, outcome = await bench.run(stream=stream)
    assert (text, outcome.route) == ("Oslo", Route.EDGE_CLASSIFIED)
    assert outcome.answer.confidence == pytest.approx(0.6 + SHIFT)
    assert outcome.reasons == ("a second answer agreed",)
    assert outcome.notice is None
    assert bench.outcomes == ["agreed"]
    assert not bench.cloud.calls


@STREAMS
async def test_a_second_answer_that_disagrees_makes_it_escalate(stream):
    bench = Bench(first(0.75), first(0.9, "Bergen"))
    text, outcome = await bench.run(stream=stream)
    assert (text, outcome.route) == ("It is Oslo.", Route.CLOUD_ESCALATED)
    assert outcome.reasons == (
        "a second answer disagreed",
        "the edge answer's confidence was 0.55",
    )
    assert bench.outcomes == ["disagreed"]
    assert bench.edge.running == 0


@pytest.mark.parametrize(("text", "outcome"), [("Oslo", "agreed"), ("Bergen", "differed")])
@pytest.mark.parametrize(
    ("by", "source", "version"),
    [
        (None, "sample", ""),
        ("other", "model", ""),
        ("other", "model", next(iter(shipped().models))),
    ],
)
async def test_it_weighs_what_was_fitted_for_whoever_gave_it(by, source, version, text, outcome):
    class Fitted(PlainJudge):
        with_second = Judge.with_second

    second, terms = first(0.5, text), replace(TERMS, backend=by)
    judge = Fitted()
    bench = Bench(first(0.6), second, other=second, terms=terms, judge=judge, version=version)
    _, told = await bench.run(alone=True)
    assert len(bench.other.calls) == (source == "model")
    weights = shipped().of_second(source, version)
    expected = moved(0.6, 0.5, weights, agreed=outcome == "agreed")
    assert told.answer.confidence == pytest.approx(expected)


@STREAMS
async def test_a_doubted_answer_that_has_the_last_word_tells_of_the_second(stream):
    gone = BackendError("cloud failed", backend="cloud", fault=Fault.SERVER)
    bench = Bench(first(0.75), first(0.9, "Bergen"), cloud=[gone])
    text, outcome = await bench.run(stream=stream)
    assert (text, outcome.route) == ("Oslo", Route.EDGE_DEGRADED)
    assert outcome.reasons[0] == "a second answer disagreed"
    assert "0.55" in outcome.notice


@pytest.mark.parametrize(
    ("prompt", "one", "other", "agreed"),
    [
        ("How many legs has a spider? Answer with the number only.", "8", "It has 8 legs.", True),
        ("How many legs has a spider? Answer with the number only.", "8", "It has 6 legs.", False),
        ("Is it warm? Answer yes or no.", "Yes.", "yes, it is", True),
        ("Is it warm? Answer yes or no.", "Yes.", "No.", False),
        ("Give it as JSON.", '{"a": 1, "b": 2}', '{"b":2,"a":1.0}', True),
        ("Give it as JSON.", '{"a": 1}', '{"a": 2}', False),
        ("挪威的首都是哪里？", "奥斯陆。", "奥斯陆", True),
        ("挪威的首都是哪里？", "奥斯陆。", "卑尔根", False),
        (CAPITAL, "Oslo.", "oslo", True),
    ],
)
async def test_they_are_compared_in_the_form_that_was_asked_for(prompt, one, other, agreed):
    bench = Bench(first(0.6, one), first(0.6, other))
    await bench.run(prompt)
    assert bench.outcomes == ["agreed" if agreed else "disagreed"]


@pytest.mark.parametrize(("alike", "outcome"), [(0.95, "agreed"), (0.5, "disagreed")])
async def test_free_texts_are_compared_by_meaning_where_that_can_be_told(alike, outcome):
    asked = []

    async def similarity(one, other):
        asked.append((one, other))
        return alike

    bench = Bench(
        first(0.6, "Oslo is Norway's capital."),
        first(0.6, "The seat is Oslo."),
        similarity=similarity,
    )
    await bench.run()
    assert bench.outcomes == [outcome]
    assert asked == [("Oslo is Norway's capital.", "The seat is Oslo.")]


async def test_the_judges_own_comparison_says_whether_they_agree():
    class Lenient(PlainJudge):
        def with_second(self, confidence, text, second, **_):
            return confidence + (SHIFT if text in second.text else -SHIFT)

    bench = Bench(first(0.6), first(0.6, "It is Oslo, of course."), judge=Lenient())
    _, outcome = await bench.run()
    assert outcome.reasons == ("a second answer agreed",)
    assert bench.outcomes == ["agreed"]


@STREAMS
@pytest.mark.parametrize(
    ("confidence", "asked"),
    [(0.39, False), (LOW, True), (0.41, True), (0.79, True), (HIGH, False), (0.81, False)],
)
async def test_only_the_middle_band_is_asked_about(confidence, asked, stream):
    bench = Bench(first(confidence))
    await bench.run(stream=stream)
    assert len(bench.edge.calls) == 1 + asked


@settings(max_examples=40)
@given(st.floats(0.01, 0.99), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_an_opinion_is_asked_for_in_the_band_alone(confidence, one, other):
    low, high = sorted((one, other))
    bench = Bench(first(confidence), terms=replace(TERMS, low=low, high=high))
    asyncio.run(bench.run())
    seen = round(exp(log(confidence)), 6)
    assert len(bench.edge.calls) == 1 + (low <= seen < high)


@STREAMS
@pytest.mark.parametrize(
    "script",
    [
        saying("word " * 17, confidence=0.6),
        [whole("It is cut", logprob=log(0.6), finish_reason="length")],
        [calling("weather", "{}")],
        saying("Oslo"),
    ],
    ids=["long", "cut off", "calls a tool", "no probabilities"],
)
async def test_what_cannot_be_checked_so_is_not_asked_again(script, stream):
    bench = Bench(script)
    await bench.run(stream=stream, max_tokens=100)
    assert len(bench.edge.calls) == 1
    assert bench.opinions == []


async def test_several_choices_are_not_asked_for_again():
    bench = Bench(first(0.6))
    await bench.run(features=frozenset({Feature.CHOICES}), body={"n": 2})
    assert len(bench.edge.calls) == 1


@pytest.mark.parametrize("alone", [False, True], ids=["with a cloud", "alone"])
async def test_a_stream_that_may_be_let_go_is_not_held_for_it(alone):
    """It is judged by its beginning, as without."""
    bench = Bench(first(0.75, "This is how the answer goes on for a long while."))
    text, outcome = await bench.run(stream=True, alone=alone)
    assert text.startswith("This is how")
    assert len(bench.edge.calls) == 1
    assert outcome.answer.confidence == pytest.approx(0.75)


async def test_an_answer_that_has_nowhere_else_to_go_is_checked_all_the_same():
    bench = Bench(first(0.6))
    _, outcome = await bench.run(alone=True)
    assert outcome.answer.confidence == pytest.approx(0.6 + SHIFT)
    assert outcome.notice is None, "it is not in doubt any more"


async def test_a_stream_that_has_nowhere_else_to_go_is_not_held_at_all():
    bench = Bench(first(0.6))
    text, outcome = await bench.run(alone=True, stream=True)
    assert (text, outcome.answer.confidence) == ("Oslo", pytest.approx(0.6))
    assert len(bench.edge.calls) == 1


@STREAMS
@pytest.mark.parametrize("confidence", [0.6, 0.75])
async def test_a_late_one_changes_nothing_and_is_stopped(stream, confidence):
    hanging = Bench(first(confidence), [Hang()], terms=replace(TERMS, timeout_s=0.05))
    without = Bench(first(confidence), off=True)
    text, outcome = await hanging.run(stream=stream)
    plain = await without.run(stream=stream)
    assert (text, outcome.reasons) == (plain[0], plain[1].reasons)
    assert outcome.answer.confidence == plain[1].answer.confidence
    assert hanging.outcomes == ["late"]
    assert hanging.edge.running == 0
    assert hanging.breakers["edge"].state == "closed"


async def test_after_a_late_one_nobody_is_asked_for_a_while():
    bench = Bench(first(0.75), [Hang()], first(0.75), terms=replace(TERMS, timeout_s=0.05))
    for _ in range(3):
        await bench.run()
    assert bench.outcomes == ["late"]
    bench.clock.advance(REST_S)
    await bench.run()
    assert bench.outcomes == ["late", "agreed"]


async def test_late_ones_do_not_open_the_breaker():
    times = 2 * ExecutionConfig().breaker_failures
    bench = Bench(*[first(0.75), [Hang()]] * times, terms=replace(TERMS, timeout_s=0.02))
    for _ in range(times):
        await bench.run(alone=True)
        bench.clock.advance(REST_S)
    assert bench.outcomes == ["late"] * times
    assert bench.breakers["edge"].state == "closed"


@STREAMS
@pytest.mark.parametrize("fault", Fault)
async def test_a_failing_one_changes_nothing(fault, stream):
    failure = BackendError("edge failed", backend="edge", fault=fault)
    bench = Bench(first(0.75), [failure])
    watch = Watched()
    text, outcome = await bench.run(stream=stream, watch=watch)
    assert (text, outcome.route, outcome.reasons) == ("Oslo", Route.EDGE_CLASSIFIED, ())
    assert outcome.answer.confidence == pytest.approx(0.75)
    assert bench.outcomes == ["refused" if fault is Fault.REFUSED else "failed"]
    assert watch.told == ["edge"]
    assert not [event for event in bench.heard if isinstance(event, AttemptFailed)]


@pytest.mark.parametrize("fault", Fault)
async def test_a_failing_one_keeps_nobody_else_from_asking(fault):
    """Found on a model of one slot without a queue: that it was busy rested its breaker."""
    failure = BackendError("edge failed", backend="edge", fault=fault, retry_after_s=60)
    times = 2 * ExecutionConfig().breaker_failures
    bench = Bench(*[first(0.75), [failure]] * times)
    for _ in range(times):
        await bench.run()
        bench.clock.advance(REST_S)
    assert len(bench.opinions) == times
    assert bench.breakers["edge"].refusal() is None
    assert bench.cloud.calls == []


@pytest.mark.parametrize(
    "second",
    [
        [whole("Oslo is cut", logprob=log(0.9), finish_reason="length")],
        saying("I'm sorry, but I can't help with that.", confidence=0.9),
        saying("", confidence=0.9),
        [],
    ],
    ids=["cut off", "refuses", "empty", "nothing"],
)
async def test_one_that_is_visibly_bad_changes_nothing(second):
    bench = Bench(first(0.75), second)
    text, outcome = await bench.run()
    assert (text, outcome.reasons) == ("Oslo", ())
    assert bench.outcomes == ["unusable"]


async def test_one_that_breaks_changes_nothing(caplog):
    class Odd(ScriptedBackend):
        def answer(self, call):
            if self.calls:
                raise RuntimeError("a bug")
            return super().answer(call)

    bench = Bench()
    odd = Odd(bench.edge.spec, first(0.75))
    bench.runner._backends["edge"] = odd
    text, _ = await bench.run()
    assert text == "Oslo"
    assert bench.outcomes == ["failed"]
    assert "a second opinion of edge broke" in caplog.text


async def test_an_open_breaker_is_respected():
    bench = Bench(first(0.75), terms=replace(TERMS, backend="other"))
    for _ in range(ExecutionConfig().breaker_failures):
        bench.breakers["other"].admit().failed(Fault.SERVER, None)
    text, _ = await bench.run()
    assert (text, bench.other.calls) == ("Oslo", [])
    assert bench.outcomes == ["refused"]


async def test_one_that_is_not_well_is_not_asked():
    bench = Bench(
        first(0.75), terms=replace(TERMS, backend="other"), refusals={"other": "unavailable"}
    )
    await bench.run()
    assert bench.other.calls == bench.opinions == []


@STREAMS
async def test_another_small_model_gives_its_likeliest_answer(stream):
    bench = Bench(first(0.6), terms=replace(TERMS, backend="other"))
    _, outcome = await bench.run(stream=stream, body={"temperature": 1.3, "top_p": 0.5})
    assert outcome.reasons == ("a second answer, by other, agreed",)
    (call,) = bench.other.calls
    assert call.request.body["temperature"] == 0.0
    assert len(bench.edge.calls) == 1
    assert bench.opinions[0].backend == "other"


async def test_one_that_lacks_what_the_request_needs_is_not_asked():
    bench = Bench(first(0.75), terms=replace(TERMS, backend="other"))
    await bench.run(features=frozenset({Feature.TOOLS}), body={"tools": []})
    assert bench.other.calls == []


async def test_the_other_model_is_sampled_where_it_gave_the_first_answer():
    bench = Bench(first(0.6), terms=replace(TERMS, backend="edge"))
    _, outcome = await bench.run()
    assert outcome.reasons == ("a second answer agreed",)
    assert bench.edge.calls[1].request.body["temperature"] == 0.7


async def test_a_cloud_is_never_asked_whatever_the_terms_say():
    bench = Bench(first(0.75), terms=replace(TERMS, backend="cloud"))
    await bench.run()
    assert bench.cloud.calls == bench.opinions == []


@STREAMS
@pytest.mark.parametrize("clearance", [Clearance.DEVICE_ONLY, Clearance.DISGUISED])
@pytest.mark.parametrize("away", [False, True], ids=["here", "next door"])
async def test_a_private_request_is_asked_again_on_this_device_only(away, clearance, stream):
    bench = Bench(first(0.75), terms=replace(TERMS, backend="other"), away={"other": away})
    _, outcome = await bench.run(stream=stream, clearance=clearance)
    assert len(bench.other.calls) == (not away)
    assert outcome.answer.confidence == pytest.approx(0.75 if away else 0.75 + SHIFT)
    assert all(call.request.trail.exits == () for call in bench.edge.calls)


async def test_an_edge_server_next_door_is_asked_through_the_door():
    bench = Bench(first(0.6), terms=replace(TERMS, backend="other"), away={"other": True})
    await bench.run()
    (call,) = bench.other.calls
    assert [left.to for left in call.request.trail.exits] == ["other"]


async def test_nobody_is_asked_where_too_little_time_is_left():
    bench = Bench([Pause(0.2), *first(0.75)])
    text, _ = await bench.run(within_s=0.5)
    assert (text, bench.opinions) == ("Oslo", [])


async def test_nobody_is_asked_where_the_caller_cannot_wait_so_long():
    bench = Bench(first(0.75))
    now_s = bench.clock.monotonic()
    wish = Wish(max_latency_s=1.0)
    await bench.run(wish=wish, received_s=now_s - 1.0)
    assert bench.opinions == []
    await bench.run(wish=wish, received_s=now_s)
    assert bench.outcomes == ["agreed"]


@STREAMS
async def test_it_is_stopped_when_the_caller_leaves(stream):
    bench = Bench(first(0.75), [Hang()])
    asking = asyncio.create_task(bench.run(stream=stream))
    while len(bench.edge.calls) < 2:
        await asyncio.sleep(0.005)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert bench.edge.running == 0
    assert bench.outcomes == ["cancelled"]
    assert bench.opinions[0].usage is None


@STREAMS
async def test_the_extra_tokens_are_told_apart_from_those_of_the_answer(stream):
    bench = Bench(first(0.6), first(0.9, "oslo , of course not"))
    _, outcome = await bench.run(stream=stream, include_usage=True)
    assert bench.opinions[0].usage.completion_tokens == 5
    assert outcome.answer.usage.completion_tokens != 5


@STREAMS
async def test_off_nothing_is_asked_or_told(stream):
    bench = Bench(first(0.75), off=True)
    text, outcome = await bench.run(stream=stream)
    assert (text, outcome.reasons) == ("Oslo", ())
    assert len(bench.edge.calls) == 1
    assert bench.opinions == []


NAMES = [
    *("stream", "stream_options", "temperature", "top_p", "seed", "max_tokens", "logprobs"),
    *("max_completion_tokens", "stop", "user", "presence_penalty", "response_format"),
]
FIELDS = st.dictionaries(
    st.sampled_from(NAMES), st.one_of(st.none(), st.integers(0, 9), st.booleans())
)
KEPT = ("messages", "stop", "user", "presence_penalty", "response_format")


@settings(max_examples=40)
@given(FIELDS, st.integers(1, 600), st.sampled_from(["sample", "model"]), st.booleans())
def test_the_same_is_asked_in_one_piece_and_short(fields, limit, source, stream):
    body = {"messages": [{"role": "user", "content": "Hi"}]} | fields
    own = fields.get("max_tokens") or None
    request = Request("r", "auto", (), body, stream=stream, max_tokens=own)
    again = ask_again(request, source, limit)
    assert not again.stream
    assert again.max_tokens == again.body["max_tokens"] <= min(limit, own or limit)
    assert {k: v for k, v in again.body.items() if k in KEPT} == {
        k: v for k, v in body.items() if k in KEPT
    }
    assert not again.body.keys() & {"stream", "stream_options", "top_p", "logprobs"}
    assert (again.clearance, again.tenant, again.messages) == (request.clearance, "anonymous", ())
    assert again.trail is request.trail
    if source == "sample":
        assert again.body["seed"] != body.get("seed")
        assert again.body["temperature"] > 0
