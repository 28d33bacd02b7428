"""One table says what follows from a fault."""

from __future__ import annotations

import pytest

from hybridge.core.errors import FAULTS, Again, Blame, Fault


def test_every_fault_has_its_row():
    assert set(FAULTS) == set(Fault)


@pytest.mark.parametrize("fault", Fault)
def test_rows_are_sound(fault):
    if fault.blame is Blame.CALLER:
        assert not fault.counts_for_breaker, "a backend is not ill because a request is wrong"
        assert fault.again is Again.NEVER
    if fault.again is Again.LATER:
        assert fault.elsewhere, "while one recovers another may answer"


def test_only_a_request_that_is_wrong_everywhere_is_not_tried_elsewhere():
    assert [fault for fault in Fault if not fault.elsewhere] == [Fault.CALLER]
