"""Stop strings in text that comes in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridge.edge.stop_text import StopText

WORDS = st.text("abc", max_size=12)


@given(st.lists(WORDS, max_size=8), st.lists(st.text("abc", min_size=1, max_size=4), max_size=3))
def test_whatever_the_pieces_all_before_the_first_stop_is_told_and_no_more(pieces, stops):
    text, whole = StopText(stops), "".join(pieces)
    told = "".join(map(text.feed, pieces))
    assert whole.startswith(told)
    if not text.stopped:
        told += text.close()
    # the stop that is complete first ends the text, where it begins
    ends = [(whole.find(stop) + len(stop), whole.find(stop)) for stop in stops if stop in whole]
    assert text.stopped == bool(ends)
    assert not any(stop in told for stop in stops)
    if not ends:
        assert told == whole


def test_what_may_be_a_stop_is_held_back_until_it_is_not():
    text = StopText(["STOP"])
    assert text.feed("go ST") == "go "
    assert text.feed("ILL") == "STILL"
    assert text.feed(" now STOP it") == " now "
    assert text.stopped
    assert text.feed("more") == ""
