"""What is done about what was found (R31): the strictest counts, and a name alone is little."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.request import Handling
from hybridge.privacy.config import KeyPrivacyConfig, PrivacyConfig
from hybridge.privacy.finding import TYPES, Finding, Level
from hybridge.privacy.policy import STRICTNESS, Policy

HANDLINGS: tuple[Handling, ...] = ("allow", "pseudonymise", "local_only", "block")
handlings = st.sampled_from(HANDLINGS)
policies = st.builds(
    Policy,
    handlings,
    st.dictionaries(st.sampled_from(sorted(TYPES)), handlings, max_size=3),
    st.sampled_from(("allow", "local_only", "block")),
)
findings = st.lists(
    st.builds(
        Finding,
        st.sampled_from(sorted(TYPES)),
        st.just(0),
        st.just(1),
        st.sampled_from(Level),
    ),
    max_size=5,
)


def found(kind: str, level: Level = Level.MEDIUM) -> Finding:
    return Finding(kind, 0, 1, level)


@given(policies, findings, st.integers(0, 2), handlings)
def test_a_caller_only_ever_tightens(
    policy: Policy, seen: list[Finding], unread: int, least: Handling
) -> None:
    by_itself = policy.decide(seen, unread)
    asked = policy.decide(seen, unread, least=least)
    assert STRICTNESS[asked.handling] >= STRICTNESS[by_itself.handling]
    assert sum(map(len, asked.found.values())) == sum(map(len, by_itself.found.values()))
    if asked.found:
        assert STRICTNESS[asked.handling] >= STRICTNESS[least]


@given(policies, findings, findings)
def test_to_find_more_never_loosens(
    policy: Policy, seen: list[Finding], more: list[Finding]
) -> None:
    few, many = policy.decide(seen), policy.decide([*seen, *more])
    assert STRICTNESS[many.handling] >= STRICTNESS[few.handling]


@given(policies, findings)
def test_the_strictest_counts(policy: Policy, seen: list[Finding]) -> None:
    decision = policy.decide(seen)
    assert decision.handling == max(decision.found, key=STRICTNESS.__getitem__, default="allow")
    assert set(decision.found) <= set(HANDLINGS)


@pytest.mark.parametrize(
    ("action", "handled"),
    [
        ("allow", "allow"),
        ("pseudonymise", "pseudonymise"),
        ("local_only", "pseudonymise"),
        ("block", "pseudonymise"),
    ],
)
def test_a_name_alone_keeps_nothing_here(action: Handling, handled: Handling) -> None:
    names = [found("PERSON"), found("PERSON"), found("IP", Level.LOW)]
    assert Policy(action).decide(names).handling == handled


@pytest.mark.parametrize("action", HANDLINGS)
def test_beside_other_data_a_name_is_like_them(action: Handling) -> None:
    decision = Policy(action).decide([found("PERSON"), found("PHONE")])
    assert set(decision.found) == {action}


@pytest.mark.parametrize("own", HANDLINGS)
@pytest.mark.parametrize("level", [Level.LOW, Level.HIGH])
def test_a_rule_for_names_is_a_rule_for_names(own: Handling, level: Level) -> None:
    assert Policy("local_only", {"PERSON": own}).decide([found("PERSON", level)]).handling == own


def test_weak_signs_are_not_acted_upon() -> None:
    weak = [found(kind, Level.LOW) for kind in sorted(TYPES)]
    assert Policy("block").decide(weak).found == {}


@pytest.mark.parametrize("unexamined", ["allow", "local_only", "block"])
def test_what_cannot_be_read_has_a_rule_of_its_own(unexamined: Handling) -> None:
    policy = Policy("allow", unexamined=unexamined)
    assert policy.decide([], 1).handling == unexamined
    assert policy.decide([], 0).handling == "allow"
    assert policy.lets_all_go is (unexamined == "allow")


def test_a_key_has_rules_of_its_own() -> None:
    general = PrivacyConfig(action="local_only", types={"EMAIL": "allow", "SECRET": "block"})
    some = Policy.of(general, KeyPrivacyConfig(types={"EMAIL": "block"}))
    assert (some.action, some.types) == ("local_only", {"EMAIL": "block", "SECRET": "block"})
    all_ = Policy.of(general, KeyPrivacyConfig(action="pseudonymise", unexamined="block"))
    assert (all_.action, all_.types, all_.unexamined) == ("pseudonymise", {}, "block")
    assert Policy.of(general, KeyPrivacyConfig()) == Policy.of(general)
