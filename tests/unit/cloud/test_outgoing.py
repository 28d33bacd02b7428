"""The body that goes out is the caller's."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.outgoing import outgoing
from hybridge.cloud.providers import PROVIDERS
from hybridge.core.backend import Call
from hybridge.core.clock import Deadline
from hybridge.core.request import Request
from hybridge.testing.clock import ManualClock

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def sent(body, limit_field="as_sent", *, stream=False, want_logprobs=False, spelling=None):
    request = Request("r", "auto", (), body, stream=stream)
    call = Call(request, Deadline.after(9, ManualClock()), want_logprobs)
    return json.loads(outgoing(call, "theirs", limit_field, spelling))


@given(st.dictionaries(st.text(), VALUES))
def test_nothing_but_the_model_changes(body):
    before = json.dumps(body)
    assert sent(body) == json.loads(before) | {"model": "theirs"}
    assert json.dumps(body) == before


def test_zeros_and_nulls_arrive_and_nothing_is_added():
    body = {"temperature": 0, "top_p": 0, "seed": 0, "logprobs": False, "stop": None}
    assert sent(body) == body | {"model": "theirs"}


def test_what_this_house_asks_for_is_added_beside_what_is_there():
    body = {"stream_options": {"include_obfuscation": False}}
    told = sent(body, stream=True, want_logprobs=True)
    assert told["stream_options"] == {"include_obfuscation": False, "include_usage": True}
    assert told["logprobs"] is True
    assert sent({"stream_options": None}, stream=True)["stream_options"] == {"include_usage": True}


def test_a_picture_and_null_and_zero_arrive_as_they_were_sent():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    body = {"messages": [{"role": "user", "content": [image]}], "temperature": 0, "stop": None}
    assert sent(body) == body | {"model": "theirs"}


@pytest.mark.parametrize(
    ("body", "known", "limits"),
    [
        ({"max_tokens": 5}, "as_sent", {"max_tokens": 5}),
        ({"max_completion_tokens": 5}, "as_sent", {"max_completion_tokens": 5}),
        ({"max_tokens": 5}, "max_completion_tokens", {"max_completion_tokens": 5}),
        ({"max_completion_tokens": 5}, "max_tokens", {"max_tokens": 5}),
        ({"max_completion_tokens": 5, "max_tokens": 9}, "max_tokens", {"max_tokens": 5}),
        ({"max_completion_tokens": None, "max_tokens": 9}, "max_tokens", {"max_tokens": 9}),
        ({}, "max_tokens", {}),
    ],
)
def test_the_limit_goes_out_under_the_name_that_is_known(body, known, limits):
    assert sent(body, known) == limits | {"model": "theirs"}


def test_provider_rows():
    for name, row in PROVIDERS.items():
        assert row.name == name
        assert row.base_url.startswith(("https://", "http://127.0.0.1:")) or name == "azure"
        assert not row.base_url.endswith("/")
        assert row.key_env is None or row.key_env.endswith("_API_KEY")
