"""B01 as a property: whatever a backend does with usage, the caller's stream is the same."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.response import Chunk
from hybridge.server.shapes.chat.ending import Ending
from hybridge.testing.gateway import ESTIMATE, USAGE, piece, usage_piece

USAGES = st.sampled_from([{}, {"usage": None}, {"usage": USAGE}])


@st.composite
def streams(draw) -> list[Chunk]:
    texts = draw(st.lists(st.text(), max_size=6))
    said = [piece(text, **draw(USAGES)) for text in texts]
    after = [piece(**draw(USAGES)) for _ in range(draw(st.integers(0, 2)))]
    trailing = [usage_piece()] if draw(st.booleans()) else []
    return [*said, piece(finish="stop", **draw(USAGES)), *after, *trailing]


@given(streams(), st.booleans(), st.booleans())
def test_what_the_caller_sees(chunks, with_usage, with_report):
    ending = Ending(with_usage=with_usage)
    sent = [wire for chunk in chunks if (wire := ending.take(chunk)) is not None]
    assert ending.finished
    held = ending.close(ESTIMATE, b'{"route":"edge_rule"}' if with_report else None)
    seen = [json.loads(wire) for wire in (*sent, *held)]

    text = "".join(c["choices"][0]["delta"].get("content") or "" for c in seen if c["choices"])
    assert text == "".join(chunk.text for chunk in chunks)
    assert sum(bool(c.get("usage")) for c in seen) == with_usage
    assert [bool(c["choices"]) for c in seen] == [True] * (len(seen) - with_usage) + [
        False
    ] * with_usage
    assert [i for i, c in enumerate(seen) if "hybridge" in c] == [len(seen) - 1] * with_report
    finishes = [c["choices"][0]["finish_reason"] for c in seen if c["choices"]]
    assert finishes.count("stop") == 1
    if not with_usage:
        assert not any("usage" in c for c in seen)


@given(st.lists(st.text(), min_size=1))
def test_nothing_is_held_before_the_end(texts):
    ending = Ending(with_usage=True)
    chunks = [piece(text) for text in texts]
    assert [ending.take(chunk) for chunk in chunks] == [chunk.wire for chunk in chunks]
    assert not ending.finished


@given(st.lists(st.sampled_from([None, ""])), st.booleans())
def test_usage_beside_an_empty_choice_is_usage_and_nothing_else(said, with_usage):
    """Some backends send it so, and clients take it for more of the answer."""
    ending = Ending(with_usage=with_usage)
    assert ending.take(piece("Hi")) is not None
    assert ending.take(piece(finish="stop")) is None
    assert [ending.take(piece(text, usage=USAGE)) for text in said] == [None] * len(said)
    finish, *usage = map(json.loads, ending.close(ESTIMATE, None))
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert [told["choices"] for told in usage] == [[]] * with_usage


def test_what_another_choice_still_says_is_kept():
    ending = Ending(with_usage=False)
    ending.take(piece("Hi", finish="stop"))
    late = piece(
        choices=[{"index": 1, "delta": {"role": "assistant"}, "finish_reason": None}], usage=USAGE
    )
    assert ending.take(late) is not None
    [last] = map(json.loads, ending.close(ESTIMATE, None))
    assert last["choices"][0]["delta"] == {"role": "assistant"}
