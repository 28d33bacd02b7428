"""The short way to a request's text says the same as the long one, or steps aside."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.request import Request
from hybridge.privacy.contents import contents, plain_text, readable
from hybridge.privacy.view import BOUNDARY

words = st.text('ab 1\\u中"' + BOUNDARY, max_size=8)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
turns = st.fixed_dictionaries(
    {"role": st.just("user"), "content": words | anything}, optional={"name": words}
)
bodies = st.fixed_dictionaries(
    {"model": words},
    optional={"messages": st.lists(turns, max_size=3), "max_tokens": st.integers(), "user": words},
).flatmap(lambda body: st.dictionaries(words, anything, max_size=1).map(lambda more: body | more))


def request(body: dict[str, Any]) -> Request:
    return Request(id="1", model="m", messages=(), body=body)


def joined(asked: Request) -> str:
    pieces = readable(contents(asked)).pieces
    said = ((piece.text.replace(BOUNDARY, " "), piece.key) for piece in pieces)
    return "".join(f"{text}{': ' if key else BOUNDARY}" for text, key in said)


@given(bodies)
def test_both_ways_say_the_same(body: dict[str, Any]) -> None:
    short = plain_text(request(body))
    assert short is None or short == joined(request(body))


def test_an_ordinary_request_goes_the_short_way() -> None:
    body = {"model": "auto", "messages": [{"role": "user", "content": "你好"}], "stream": True}
    assert plain_text(request(body)) == f"model: auto{BOUNDARY}user{BOUNDARY}你好{BOUNDARY}"
