"""A cloud that judges comparisons, from settings to the record (R21), and what it never gets (R32)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.wiring.scene import ask, until

from hybridge.budget.ledger import JUDGE
from hybridge.core.errors import ConfigError
from hybridge.core.events import Compared, Exited, GatewayEvent, Judged, Served
from hybridge.core.request import Wish
from hybridge.settings import parse
from hybridge.testing.replies import Received, Reply, Step, fails, hangs, says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import House, open_house

pytestmark = pytest.mark.anyio

PROMPT = "Why is the sky blue? Explain it to a child in a few sentences."
EDGE = "Sunlight holds all colours, and air scatters the blue ones most."
CLOUD = "Tiny bits of air bounce the blue part of sunlight around, so we see blue everywhere."
PRICE = {"input_usd": 2, "output_usd": 8}
COST = Decimal("0.000022")
"""Of one verdict of one word: seven tokens in, one out."""
MAIL = "ann.miller@example.org"


@dataclass
class Bench:
    """A house that compares everything, its three upstreams and what happened."""

    house: House
    judge: Upstream
    data: dict[str, Any]
    told: list[GatewayEvent] = field(default_factory=list)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]

    async def compare(self, prompt: str = PROMPT, **more: Any) -> tuple[Compared, Judged | None]:
        """What came of asking once."""
        before = len(self.of(Compared)), len(self.of(Judged))
        await ask(self.house, "auto", prompt, **more)
        await until(lambda: len(self.of(Compared)) > before[0])
        judged = self.of(Judged)
        return self.of(Compared)[-1], judged[-1] if len(judged) > before[1] else None

    @property
    def spent(self) -> tuple[Decimal, Decimal]:
        """What the judge has cost, and what it is promised."""
        (own,) = [s for s in self.house.ledger.status().spends if s.owner == JUDGE]
        return own.spent, own.reserved


@asynccontextmanager
async def bench(
    *replies: Reply,
    edge: str = EDGE,
    cloud: str = CLOUD,
    away: bool = False,
    price: Any = PRICE,
    judge: dict[str, Any] | None = None,
    **sections: Any,
) -> AsyncIterator[Bench]:
    """`away`: the judge has an address beyond this device, behind a proxy that is on it."""
    async with (
        Upstream(says(edge, logprob=-0.02)) as near,
        Upstream(says(cloud)) as far,
        Upstream(*replies) as third,
    ):
        place = {"base_url": third.base_url}
        if away:
            place = {"base_url": "http://judge.example/v1", "proxy": third.root_url}
        data = {
            "server": {"port": 0},
            "edge": {
                "backends": [
                    {"name": "e", "engine": "openai", "base_url": near.base_url, "model": "small"}
                ]
            },
            "cloud": {
                "backends": [
                    {"name": "c", "base_url": far.base_url, "model": "large", "price": PRICE},
                    {"name": "j", **place, "model": "wise", "price": price},
                ]
            },
            "routing": {"edge_max": 1, "cloud_min": 10},
            "learning": {"judge": {"backend": "j", **(judge or {})}},
            "records": {"url": None},
            **sections,
        }
        async with open_house(parse(data, {})) as house:
            scene = Bench(house, third, data)
            house._lasting.events.subscribe(scene.told.append)
            yield scene


def prefers(text: str) -> Reply:
    """A judge with a mind of its own: whatever the order, the answer with this text."""

    def reply(received: Received) -> Iterator[Step]:
        put = received.json["messages"][-1]["content"]
        first = put.index(text) < put.index(EDGE if text == CLOUD else CLOUD)
        return says("A" if first else "B")(received)

    return reply


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_answers_that_serve_equally_well_agree_after_one_question(stream):
    async with bench(says("SAME")) as scene:
        compared, judged = await scene.compare(stream=stream)
        assert (compared.method, compared.agreed, judged.outcome) == ("judge", True, "same")
        assert compared.similarity is not None
        (post,) = scene.judge.posts
        shown = post.json["messages"][-1]["content"]
        assert all(part in shown for part in (PROMPT, EDGE, CLOUD))
        assert not post.json.get("stream")
        assert (judged.cost_usd, scene.spent) == (COST, (COST, 0))


@pytest.mark.parametrize(("better", "agreed"), [(EDGE, True), (CLOUD, False)])
async def test_a_preference_counts_when_it_holds_in_both_orders(better, agreed):
    async with bench(prefers(better)) as scene:
        compared, judged = await scene.compare()
        assert (compared.method, compared.agreed) == ("judge", agreed)
        assert judged.outcome == ("edge" if agreed else "cloud")
        first, second = (post.json["messages"][-1]["content"] for post in scene.judge.posts)
        assert (first.index(EDGE) < first.index(CLOUD)) != (
            second.index(EDGE) < second.index(CLOUD)
        )
        assert scene.spent == (2 * COST, 0)


async def test_a_judge_that_sees_only_positions_decides_nothing():
    async with bench(says("A")) as scene:
        compared, judged = await scene.compare()
        assert compared.method in ("similarity", "ngrams")
        assert judged.outcome == "undecided"
        assert len(scene.judge.posts) == 2


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (says("Answer A is better, since it is shorter."), "unreadable"),
        (fails(500), "failed"),
        (hangs(), "failed"),
    ],
    ids=["chatty", "broken", "hanging"],
)
async def test_without_a_verdict_similarity_decides(reply, outcome):
    async with bench(reply, judge={"timeout_s": 0.3}) as scene:
        compared, judged = await scene.compare()
        assert compared.method in ("similarity", "ngrams")
        assert judged.outcome == outcome
        assert len(scene.judge.posts) == 1
        assert scene.spent[1] == 0


async def test_a_judge_that_failed_is_left_alone_for_a_while():
    async with bench(hangs(), judge={"timeout_s": 0.3}) as scene:
        await scene.compare()
        compared, judged = await scene.compare()
        assert (compared.method != "judge", judged.outcome) == (True, "resting")
        assert len(scene.judge.posts) == 1
        paid = sum(told.cost_usd for told in scene.of(Judged))  # it has read the prompt
        assert paid > 0
        assert scene.spent == (paid, 0)


async def test_its_own_budget_is_enough_for_so_many_and_no_more():
    async with bench(says("SAME"), judge={"daily_usd": str(COST)}) as scene:
        outcomes = [(await scene.compare())[1].outcome for _ in range(3)]
        assert outcomes == ["same", "over_budget", "over_budget"]
        assert len(scene.judge.posts) == 1
        assert scene.spent == (COST, 0)


async def test_no_money_no_question():
    async with bench(says("SAME"), judge={"daily_usd": 0}) as scene:
        compared, judged = await scene.compare()
        assert (compared.method != "judge", judged.outcome) == (True, "over_budget")
        assert scene.judge.posts == []


async def test_its_money_is_the_houses_money_too_and_survives_a_change():
    async with bench(says("SAME")) as scene:
        await scene.compare()
        day = scene.house.ledger.status().spends[0]
        answers = sum(event.cost_usd for event in scene.of(Served))
        assert day.spent == answers + COST
        scene.data["learning"]["judge"]["daily_usd"] = str(COST)
        await scene.house.take(parse(scene.data, {}))
        assert (await scene.compare())[1].outcome == "over_budget"
        shown = scene.house.metrics.render().decode()
        assert 'hybridge_judged_total{backend="j",outcome="same"} 1.0' in shown
        assert 'hybridge_budget_spent_usd{key="learning.judge",period="daily"}' in shown


async def test_without_one_in_the_settings_nobody_is_asked():
    async with bench(says("SAME"), learning={}) as scene:
        compared, judged = await scene.compare()
        assert (compared.method != "judge", judged, scene.judge.posts) == (True, None, [])


@pytest.mark.parametrize("answers", [("It is 4.", "4"), ("Blue sky.", "blue sky")])
async def test_what_can_be_compared_exactly_needs_no_judge(answers):
    edge, cloud = answers
    async with bench(says("SAME"), edge=edge, cloud=cloud) as scene:
        prompt = "What is 2 + 2? Answer with the number only." if edge[-2] == "4" else PROMPT
        compared, judged = await scene.compare(prompt)
        assert (compared.agreed, judged, scene.judge.posts) == (True, None, [])


@pytest.mark.parametrize(
    ("privacy", "wish"),
    [
        ({}, Wish()),
        ({"types": {"EMAIL": "allow"}}, Wish()),
        ({"action": "pseudonymise"}, Wish()),
        ({"action": "allow"}, Wish(private=True)),
    ],
    ids=["kept here", "allowed", "pseudonymised", "the caller's wish"],
)
async def test_a_private_request_never_reaches_it(privacy, wish):
    async with bench(says("SAME"), away=True, privacy=privacy) as scene:
        await ask(scene.house, "auto", f"{PROMPT} Then write to {MAIL}.", wish=wish)
        await ask(scene.house, "auto", PROMPT)  # comparisons keep their order: this is the last one
        await until(lambda: any(compared.method == "judge" for compared in scene.of(Compared)))
        assert {judged.outcome for judged in scene.of(Judged)[:-1]} <= {"private"}
        (post,) = scene.judge.posts
        assert MAIL.encode() not in post.body
        assert scene.spent == (COST, 0)


@pytest.mark.parametrize("side", ["edge", "cloud"])
async def test_nor_does_an_answer_that_holds_personal_data(side):
    said = {side: f"{EDGE if side == 'edge' else CLOUD} Ask {MAIL}, or call +49 171 2345678."}
    async with bench(says("SAME"), **said) as scene:
        _, judged = await scene.compare()
        assert (judged.outcome, scene.judge.posts) == ("private", [])


async def test_that_a_request_left_for_it_is_on_its_trail():
    async with bench(says("SAME"), away=True) as scene:
        compared, judged = await scene.compare()
        assert (compared.method, judged.outcome) == ("judge", "same")
        (post,) = scene.judge.posts
        assert post.target.startswith("http://judge.example/")
        exits = [left for event in scene.of(Served) for left in event.exits]
        exits += [event.left for event in scene.told if isinstance(event, Exited)]
        assert [(left.to, left.kind) for left in exits] == [("c", "backend"), ("j", "judge")]


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"backend": "x"}, "learning.judge.backend: no cloud backend `x`; there are: c"),
        ({"backend": "e"}, "learning.judge.backend: no cloud backend `e`"),
        ({}, "learning.judge.backend: is missing"),
        ({"backend": "c", "daily_usd": -1}, "learning.judge.daily_usd: must be greater than"),
    ],
)
def test_a_judge_that_cannot_be_is_named(judge, said):
    cloud = {
        "backends": [{"name": "c", "base_url": "http://c.example", "model": "m", "price": PRICE}]
    }
    with pytest.raises(ConfigError) as caught:
        parse({"cloud": cloud, "learning": {"judge": judge}}, {})
    assert said in str(caught.value)


def test_its_budget_is_no_api_keys():
    keys = {"api_keys": [{"name": JUDGE, "key_env": "K"}]}
    with pytest.raises(ConfigError, match="is taken already, by learning.judge"):
        parse({"server": keys}, {"K": "k"})


async def test_one_without_a_price_is_refused():
    with pytest.raises(ConfigError, match="no price is known for `wise`.*give `j` a `price`"):
        async with bench(says("SAME"), price="auto", budget={"unpriced": "allow"}):
            pass
