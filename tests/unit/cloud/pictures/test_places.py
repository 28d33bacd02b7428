"""Where pictures stand, and that nothing else is touched."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.pictures.places import inlined, places

URL, OTHER = "https://example.com/a.png", "https://example.com/b.png"
DATA = "data:image/png;base64,iVBORw0KGgo="


def test_every_picture_that_lies_elsewhere_is_found():
    shown = {"type": "image_url", "image_url": {"url": URL, "detail": "low"}}
    body = {
        "messages": [
            {"role": "system", "content": "Look."},
            {"role": "user", "content": [{"type": "text", "text": URL}, shown]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": [{"type": "image_url", "image_url": {"url": OTHER}}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": URL}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": DATA}}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///x"}}]},
        ]
    }
    assert [(place.param, place.url) for place in places(body)] == [
        ("messages[1].content[1].image_url.url", URL),
        ("messages[3].content[0].image_url.url", OTHER),
        ("messages[4].content[0].image_url", URL),
        ("messages[6].content[0].image_url.url", "file:///x"),
    ]


def test_only_the_address_is_replaced():
    held = {"url": URL, "detail": "high", "extra": 1}
    part = {"type": "image_url", "image_url": held, "cache_control": {"type": "ephemeral"}}
    text, plain = {"type": "text", "text": URL}, {"role": "user", "content": "Hello"}
    data = {"type": "image_url", "image_url": {"url": DATA}}
    bare = {"type": "image_url", "image_url": URL}
    user = {"role": "user", "content": [text, part, data, bare], "name": "n"}
    body = {"model": "m", "messages": [plain, user], "seed": 1}
    before = copy.deepcopy(body)
    made = inlined(body, {URL: "data:new"})
    assert body == before
    assert made == before | {
        "messages": [
            plain,
            user
            | {
                "content": [
                    text,
                    part | {"image_url": held | {"url": "data:new"}},
                    data,
                    {"type": "image_url", "image_url": "data:new"},
                ]
            },
        ]
    }
    assert made["messages"][0] is plain
    assert made["messages"][1]["content"][2] is data


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([URL, "image_url"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "image_url", "url", "messages"]), inner
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["messages", "model"]), json))
def test_no_form_of_a_body_is_stumbled_over(body):
    before = copy.deepcopy(body)
    wanted = places(body)
    if wanted:
        assert places(inlined(body, {place.url: DATA for place in wanted})) == []
    assert body == before
