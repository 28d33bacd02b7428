"""B20, B22: a backend that asked to be left alone, and deputies that point at each other."""

from __future__ import annotations

import pytest

from hybridge.core.errors import RATE_LIMITED, NotServed
from hybridge.core.plan import Thresholds
from hybridge.core.request import Message, Request, Tier
from hybridge.routing.candidate import Candidate
from hybridge.routing.direct import direct
from hybridge.testing.backend import spec

BUSY = "it asked to be left alone for another 30 s"


def candidate(name, *, limited=False, down=False, after_s=30.0):
    gone = limited or down
    return Candidate(
        spec(name, Tier.CLOUD),
        unavailable=BUSY if gone else None,
        retry_after_s=after_s if gone else None,
        limited=limited,
    )


def planned(*candidates, model="a", fallbacks=None):
    request = Request("r", model, (Message("user", "Hi"),), {})
    return direct(request, lambda: 5, Thresholds(), candidates, fallbacks or {})


def test_a_named_model_is_refused_at_once_for_its_rate_limit():
    with pytest.raises(NotServed) as refused:
        planned(candidate("a", limited=True))
    assert (refused.value.code, refused.value.retry_after_s) == (RATE_LIMITED, 30.0)


def test_and_as_unavailable_for_anything_else():
    with pytest.raises(NotServed) as refused:
        planned(candidate("a", down=True))
    assert (refused.value.code, refused.value.retry_after_s) == ("unavailable", 30.0)


def test_deputies_answer_meanwhile_and_the_shortest_wait_is_told_where_none_is_left():
    deputies = {"a": ["b"]}
    plan = planned(candidate("a", limited=True), candidate("b"), fallbacks=deputies)
    assert [attempt.backend for attempt in plan.attempts] == ["b"]
    with pytest.raises(NotServed) as refused:
        limited = (candidate("a", limited=True), candidate("b", limited=True, after_s=9.0))
        planned(*limited, fallbacks=deputies)
    assert (refused.value.code, refused.value.retry_after_s) == (RATE_LIMITED, 9.0)


@pytest.mark.parametrize("named", ["a", "b", "c"])
def test_fallbacks_that_point_at_each_other_name_each_backend_once(named):
    circle = {"a": ["b", "a", "b"], "b": ["a"], "c": ["c"]}
    backends = [candidate(name) for name in "abc"]
    asked = [
        attempt.backend for attempt in planned(*backends, model=named, fallbacks=circle).attempts
    ]
    assert asked[0] == named
    assert len(asked) == len(set(asked))
