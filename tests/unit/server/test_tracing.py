"""The caller's trace, out of a header that may hold anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.server.tracing import read_traceparent

GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    ("header", "read"),
    [
        (GOOD, GOOD),
        (f" {GOOD} ", GOOD),
        ("cc" + GOOD[2:] + "-what-the-future-brings", "cc" + GOOD[2:]),
        ("ff" + GOOD[2:], None),
        (GOOD.upper(), None),
        (GOOD[:-1], None),
        (GOOD + "0", None),
        ("00-" + "0" * 32 + GOOD[35:], None),
        (GOOD[:36] + "0" * 16 + "-01", None),
        ("", None),
    ],
)
def test_well_formed_or_nothing(header, read):
    assert read_traceparent({b"traceparent": header.encode()}) == read


def test_none_is_none():
    assert read_traceparent({}) is None


@given(st.binary(max_size=80))
def test_no_header_breaks_it(header):
    read = read_traceparent({b"traceparent": header})
    assert read is None or len(read) == len(GOOD)
