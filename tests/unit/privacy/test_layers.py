"""Layers beyond the always-on one: they add, they never displace, and alone their names do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.request import Clearance, Request
from hybridge.privacy.examine import Detect
from hybridge.privacy.finding import TYPES, Finding, Level
from hybridge.privacy.guard import Guard, Screened
from hybridge.privacy.layers import AT_ONCE, Look, layered, names_tell
from hybridge.privacy.policy import Policy
from hybridge.privacy.scan import detect

FINDINGS = st.builds(
    lambda kind, start, length, level: Finding(kind, start, start + length, level),
    st.sampled_from(sorted(TYPES)),
    st.integers(0, 90),
    st.integers(1, 10),
    st.sampled_from(Level),
)
ALLOWED = Policy("local_only", {"PHONE": "allow"})


def gives(*values: str, kind: str = "PERSON", level: Level = Level.LOW) -> Look:
    """A layer that knows these by heart."""

    def look(text: str, _found: Sequence[Finding]) -> Iterable[Finding]:
        for value in values:
            if value in text:
                start = text.index(value)
                yield Finding(kind, start, start + len(value), level)

    return look


async def screen(text: str, policy: Policy, look: Detect) -> Screened:
    body = {"model": "auto", "messages": [{"role": "user", "content": text}]}
    asked = Request(id="1", model="auto", messages=(), body=body)
    return await Guard(policy, detect=look).screen(asked)


@given(st.lists(FINDINGS, max_size=6), st.lists(FINDINGS, max_size=6))
def test_findings_never_overlap(first: list[Finding], more: list[Finding]) -> None:
    alone = layered(lambda _text: (), [lambda _text, _found: first])("x" * 100)
    both = layered(lambda _text: alone, [lambda _text, _found: more])("x" * 100)
    for found in (alone, both):
        assert all(one.end <= other.start for one, other in pairwise(found))
        assert all(0 <= one.start < one.end <= 100 for one in found)


def test_without_layers_nothing_is_between() -> None:
    assert layered(detect, []) is detect


def test_a_layer_is_told_what_was_found_before() -> None:
    told: list[tuple[str, int]] = []

    def look(text: str, found: Sequence[Finding]) -> Iterable[Finding]:
        told.extend((finding.type, finding.start) for finding in found)
        return ()

    assert layered(detect, [look])("手机13800138000") == detect("手机13800138000")
    assert told == [("PHONE", 2)]


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["张伟昨天说了什么？", "What did Anna Miller say?"])
async def test_a_name_alone_changes_nothing(text: str) -> None:
    look = layered(detect, [gives("张伟", "Anna Miller")])
    for action in ("local_only", "pseudonymise", "block", "allow"):
        screened = await screen(text, Policy(action), look)
        assert screened.request.clearance is Clearance.ANYWHERE
        assert screened.reasons == ()


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["张伟的手机是13800138000", "Anna Miller, phone (415) 555-2671"])
async def test_a_name_counts_beside_other_data(text: str) -> None:
    look = layered(detect, [gives("张伟", "Anna Miller")])
    assert (await screen(text, ALLOWED, detect)).request.clearance is Clearance.ANYWHERE
    screened = await screen(text, ALLOWED, look)
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    assert "privacy: kept on this device: PERSON in messages[0]" in screened.reasons


@pytest.mark.anyio
async def test_a_secret_that_only_a_layer_knows_is_acted_upon() -> None:
    look = layered(detect, [gives("zq-11", kind="SECRET", level=Level.HIGH)])
    assert (await screen("say zq-11", Policy(), look)).request.clearance is Clearance.DEVICE_ONLY


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["hello", "hello " * AT_ONCE])
async def test_a_layer_that_fails_keeps_the_request_here(text: str) -> None:
    def broken(_text: str, _found: Sequence[Finding]) -> Iterable[Finding]:
        raise MemoryError

    screened = await screen(text, Policy(), layered(detect, [broken]))
    assert screened.request.clearance is Clearance.DEVICE_ONLY
    with pytest.raises(MemoryError):
        layered(detect, [broken])("hello")


@pytest.mark.parametrize(
    ("policies", "tell"),
    [
        ([Policy("local_only")], False),
        ([Policy("block")], False),
        ([Policy("allow")], True),  # a caller may still wish for placeholders
        ([Policy("pseudonymise")], True),
        ([ALLOWED], True),
        ([Policy("local_only"), Policy("pseudonymise")], True),
    ],
)
def test_names_tell_something_where_not_all_types_are_kept_or_blocked(
    policies: list[Policy], tell: bool
) -> None:
    assert names_tell(policies) is tell
