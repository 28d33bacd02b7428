"""Who is merely slow, or still loads, is passed over as long as somebody else is left."""

from __future__ import annotations

import pytest

from hybridge.core.backend import BackendSpec
from hybridge.core.errors import NotServed
from hybridge.core.request import Clearance, Message, Request, Tier
from hybridge.routing.candidate import Candidate
from hybridge.routing.constraints import narrow

LOADING = Candidate(
    BackendSpec("local", Tier.EDGE, "small", leaves_device=False), "loading", in_need=True
)
SLOW = Candidate(BackendSpec("gpt", Tier.CLOUD, "large"), "breaker open", in_need=True)
WELL = Candidate(BackendSpec("other", Tier.CLOUD, "large"))
DOWN = Candidate(BackendSpec("down", Tier.CLOUD, "large"), "breaker open")


def left(*candidates: Candidate, clearance: Clearance = Clearance.ANYWHERE) -> list[str]:
    request = Request("r", "auto", (Message("user", "Hi"),), {}, clearance=clearance)
    return [candidate.name for candidate in narrow(request, lambda: 1, candidates).left]


def test_they_are_passed_over_while_somebody_is_well():
    assert left(LOADING, SLOW, WELL, DOWN) == ["other"]


@pytest.mark.parametrize("candidates", [(SLOW, DOWN), (DOWN, SLOW)])
def test_where_nobody_is_well_they_stay(candidates):
    assert left(*candidates) == ["gpt"]


def test_what_may_not_leave_waits_for_the_model_of_this_device():
    assert left(LOADING, SLOW, WELL, clearance=Clearance.DEVICE_ONLY) == ["local"]


def test_who_is_down_is_not_asked_in_need():
    with pytest.raises(NotServed):
        left(DOWN)
