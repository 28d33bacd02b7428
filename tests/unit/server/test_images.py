"""Pictures that can be sent on, and those that cannot."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.server.shapes.images import TYPES, picture_fault


@given(
    kind=st.sampled_from([*TYPES, "image/PNG", "image/jpg"]),
    data=st.binary(min_size=1, max_size=300),
)
def test_a_picture_as_data_is_taken(kind, data):
    assert picture_fault(f"data:{kind};base64,{base64.b64encode(data).decode()}") is None


@pytest.mark.parametrize(
    "url", ["https://example.com/a.png", "http://127.0.0.1:8000/图.png", "HTTPS://[::1]/x"]
)
def test_a_picture_at_an_address_is_taken(url):
    assert picture_fault(url) is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "address"),
        ("cat.png", "address"),
        ("file:///etc/passwd", "address"),
        ("ftp://example.com/a.png", "address"),
        ("http://", "address"),
        ("http://[::1/a.png", "address"),
        ("javascript:alert(1)", "address"),
        ("data:image/png,abc", "data URI"),
        ("data:image/png;base64", "data URI"),
        ("data:;base64,AAAA", "type"),
        ("data:text/html;base64,AAAA", "type"),
        ("data:image/svg+xml;base64,AAAA", "type"),
        ("data:image/png;base64,", "no picture"),
        ("data:image/png;base64,====", "Base64"),
        ("data:image/png;base64,图片图片", "Base64"),
        ("data:image/png;base64,AA AA", "Base64"),
    ],
)
def test_anything_else_is_refused_with_what_is_wrong(url, said):
    assert said in (picture_fault(url) or "")
