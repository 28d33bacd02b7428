"""Rules settle the clear cases before anything is scored (R1). They are data: `rule_file`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from hybridge.core.request import Tier
from hybridge.routing import rule_file
from hybridge.routing.facts import Facts
from hybridge.routing.rule_file import Condition, RuleSpec
from hybridge.routing.text import mentions, plain

Test = Callable[[Facts], bool]


class Verdict(Struct, frozen=True):
    """What the rules say about a request. Exactly one of `tier` and `score_min` is there."""

    name: str
    """The rule's name."""
    tier: Tier | None
    """Where the request goes, unscored."""
    score_min: float | None
    """The least score it gets, 1-10."""
    reason: str
    """A few words that begin with the rule's name."""


class Rule(Struct, frozen=True):
    """One rule, ready to match."""

    tests: tuple[Test, ...]
    """Cheapest first."""
    verdict: Verdict

    def matches(self, facts: Facts) -> bool:
        for test in self.tests:  # noqa: SIM110 - half the time of all(), sixteen times a request
            if not test(facts):
                return False
        return True


class Rules:
    """All rules, in order."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)

    @classmethod
    def load(cls, path: Path | None = None) -> Rules:
        """The rules of a file, or the shipped ones.

        Raises `ConfigError` that names file, rule, field and way out.
        """
        return cls([_rule(spec) for spec in rule_file.read(path or rule_file.SHIPPED)])

    def match(self, facts: Facts) -> Verdict | None:
        """The first rule that settles the request, else the one that raises its score most."""
        raising: Verdict | None = None
        for rule in self._rules:
            verdict = rule.verdict
            if verdict.tier is None and not _raises_more(verdict, raising):
                continue
            if not rule.matches(facts):
                continue
            if verdict.tier is not None:
                return verdict
            raising = verdict
        return raising


def _raises_more(verdict: Verdict, than: Verdict | None) -> bool:
    return than is None or (verdict.score_min or 0.0) > (than.score_min or 0.0)


def _rule(spec: RuleSpec) -> Rule:
    tier = None if spec.route is None else Tier(spec.route)
    reason = f"rule {spec.name}: {spec.why}" if spec.why else f"rule {spec.name}"
    verdict = Verdict(spec.name, tier, spec.score_min, reason)
    return Rule(tuple(_tests(spec.when)), verdict)


def _tests(when: Condition) -> Iterator[Test]:
    yield from _limits(when)
    if when.tasks is not None:
        yield _among(frozenset(when.tasks), lambda facts: facts.task)
    if when.languages is not None:
        yield _among(frozenset(when.languages), lambda facts: facts.language)
    if when.features is not None:
        yield _overlaps(frozenset(when.features), lambda facts: facts.features)
    if when.reasoning == "none":
        yield lambda facts: not facts.reasoning
    elif when.reasoning == "any":
        yield lambda facts: bool(facts.reasoning)
    elif when.reasoning is not None:
        yield _overlaps(frozenset(when.reasoning), lambda facts: facts.reasoning)
    for words in (when.keywords, when.also):
        if words is not None:
            yield _mentioning(words)


def _limits(when: Condition) -> Iterator[Test]:
    if (limit := when.max_tokens_at_most) is not None:
        yield _at_most(limit)
    bounds: tuple[tuple[Callable[[Facts], int], int | None, int | None], ...] = (
        (lambda facts: facts.chars, when.chars_at_least, when.chars_below),
        (lambda facts: facts.tokens, when.tokens_at_least, when.tokens_below),
        (lambda facts: facts.prompt_tokens, None, when.prompt_tokens_below),
    )
    for size, least, below in bounds:
        if least is not None or below is not None:
            yield _between(size, least or 0, below)


def _at_most(limit: int) -> Test:
    return lambda facts: facts.max_tokens is not None and facts.max_tokens <= limit


def _between(size: Callable[[Facts], int], least: int, below: int | None) -> Test:
    return lambda facts: least <= size(facts) and (below is None or size(facts) < below)


def _among(wanted: frozenset[str], name: Callable[[Facts], str]) -> Test:
    return lambda facts: name(facts) in wanted


def _overlaps(
    wanted: frozenset[str], names: Callable[[Facts], Sequence[str] | frozenset[str]]
) -> Test:
    return lambda facts: not wanted.isdisjoint(names(facts))


def _mentioning(words: Sequence[str]) -> Test:
    spelled = tuple(plain(word).strip() for word in words)

    def test(facts: Facts) -> bool:
        ask = facts.ask
        for word in spelled:  # noqa: SIM110 - half the time of any(), and there are dozens
            if word in ask and mentions(ask, word):
                return True
        return False

    return test
