"""The parts of a decision, each as one call that can be timed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from hybridge.core.backend import BackendSpec
from hybridge.core.plan import Plan, Thresholds
from hybridge.core.request import AUTO, Message, Request, Tier
from hybridge.edge.encoder import Encoder
from hybridge.routing.facts import gather
from hybridge.routing.features import features
from hybridge.routing.head import Head
from hybridge.routing.ngrams import ngrams
from hybridge.routing.router import Candidate, plan
from hybridge.routing.rules import Rules
from hybridge.routing.scorer import HeadScorer
from hybridge.routing.session import SessionView

Stage = Callable[[Request], Awaitable[object]]

PATIENCE_S = 10.0
"""For the encoder alone, which is timed without a deadline."""
_CANDIDATES = (
    Candidate(BackendSpec(name="local", tier=Tier.EDGE, model="edge", leaves_device=False)),
    Candidate(BackendSpec(name="far", tier=Tier.CLOUD, model="cloud")),
)


def request(text: str) -> Request:
    """A chat request with one user turn."""
    body = {"model": AUTO, "messages": [{"role": "user", "content": text}]}
    return Request(id="req-1", model=AUTO, messages=(Message("user", text),), body=body)


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything between a parsed request and its plan, as the gateway does it.

    Unlike the gateway it scores every request, also where a rule has settled it already.
    """

    rules: Rules
    scorer: HeadScorer

    async def __call__(self, asked: Request) -> Plan:
        facts = gather(asked)
        verdict = self.rules.match(facts)
        score = await self.scorer.score(facts)
        return plan(
            asked,
            facts,
            verdict=verdict,
            score=score,
            session=SessionView(),
            thresholds=Thresholds(),
            candidates=_CANDIDATES,
        )


def alone(rules: Rules, head: Head) -> dict[str, Stage]:
    """What is done without the encoder, by its title."""
    return {
        "facts": _facts,
        "facts + rules": _rules(rules),
        "features + n-grams": _text,
        "head": _head(head),
    }


def encoding(
    rules: Rules, head: Head, encoders: Mapping[int, Encoder], deadline_s: float
) -> dict[str, Stage]:
    """What is done with it, and the whole. `encoders` by their number of threads."""
    timed: dict[str, Stage] = {}
    for threads, encoder in encoders.items():
        timed[f"encoder, {_threads(threads)}"] = _encoder(encoder)
    for threads, encoder in encoders.items():
        scorer = HeadScorer(head, encoder, timeout_s=deadline_s)
        timed[f"whole, {_threads(threads)}"] = Decision(rules, scorer)
    return timed


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


async def _facts(asked: Request) -> object:
    return gather(asked)


def _rules(rules: Rules) -> Stage:
    """No rule can be matched without facts."""

    async def stage(asked: Request) -> object:
        return rules.match(gather(asked))

    return stage


async def _text(asked: Request) -> object:
    text = asked.last_user_text
    return features(text), ngrams(text)


def _head(head: Head) -> Stage:
    """Features and n-grams included, the embedding not."""

    async def stage(asked: Request) -> object:
        return head.predict(asked.last_user_text, None)

    return stage


def _encoder(encoder: Encoder) -> Stage:
    async def stage(asked: Request) -> object:
        return await encoder.embed(asked.last_user_text, PATIENCE_S)

    return stage
