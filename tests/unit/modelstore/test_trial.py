"""Whether a new version may stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridge.modelstore.trial import FEWEST, Terms, Trial, Verdict
from hybridge.testing.clock import ManualClock

TERMS = Terms(answers=10, window_s=60, failures_max=0.2)


def trial(*, needs_answers: bool = False) -> tuple[Trial, ManualClock]:
    clock = ManualClock()
    return Trial(TERMS, clock, needs_answers=needs_answers), clock


@given(st.lists(st.booleans(), min_size=TERMS.answers, max_size=TERMS.answers))
def test_there_is_a_verdict_after_so_many_answers_and_it_is_just(failures) -> None:
    one, _ = trial()
    verdicts = [one.answered(failed=failed) for failed in failures]
    first = next(i for i, verdict in enumerate(verdicts) if verdict)
    failed, seen = sum(failures[: first + 1]), first + 1
    if verdicts[first] is Verdict.FAILED:
        assert failed >= FEWEST
        assert failed / seen > TERMS.failures_max
    else:
        assert seen == TERMS.answers
        assert failed < FEWEST or failed / seen <= TERMS.failures_max


def test_a_quiet_version_passes_with_time_and_a_quiet_canary_does_not() -> None:
    for needs_answers, verdict in ((False, Verdict.PASSED), (True, None)):
        one, clock = trial(needs_answers=needs_answers)
        assert one.probed(failed=False) is None
        clock.advance(TERMS.window_s)
        assert one.probed(failed=False) is verdict


def test_probes_that_fail_in_a_row_count() -> None:
    one, _ = trial()
    told = [one.probed(failed=failed) for failed in (True, True, False, True, True, True)]
    assert told == [None] * 5 + [Verdict.FAILED]
    assert one.account == "3 health probes in a row failed"
