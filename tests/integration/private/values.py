"""Personal data made up for one example each, correct down to the check digit."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

from hypothesis import strategies as st

from hybridge.privacy.checksums import luhn

_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_DIGITS = "0123456789"
_LETTERS = "abcdefghjkmnpqrstuvwxyz"


def digits(count: int) -> st.SearchStrategy[str]:
    return st.text(_DIGITS, min_size=count, max_size=count)


def chinese_id(serial: str, day: int, year: int) -> str:
    """GB 11643."""
    body = f"110105{year}06{day:02}{serial}"
    total = sum(int(one) * weight for one, weight in zip(body, _ID_WEIGHTS, strict=True))
    return body + "10X98765432"[total % 11]


def card(middle: str) -> str:
    """ISO/IEC 7812."""
    body = f"4{middle}"
    return next(body + last for last in _DIGITS if luhn(body + last))


def wide(value: str) -> str:
    """Full-width, as Chinese input methods write."""
    return "".join(chr(ord(one) + 0xFEE0) for one in value)


identities = st.builds(chinese_id, digits(3), st.integers(1, 28), st.integers(1950, 2005))
mobiles = st.builds("13{}".format, digits(9))
cards = st.builds(card, digits(14))
emails = st.builds("{}.{}@mail.cn".format, st.text(_LETTERS, min_size=9, max_size=9), digits(3))
keys = st.builds("sk-proj-{}".format, st.text(_LETTERS + _DIGITS, min_size=32, max_size=32))
VALUES = st.one_of(
    identities,
    identities.map(wide),
    identities.map(lambda value: f"{value[:6]} {value[6:14]} {value[14:]}"),
    mobiles,
    cards,
    emails,
    keys,
)


def traces(value: str) -> list[bytes]:
    """How the value may look on a wire: as it is, escaped, and inside base64."""
    raw = value.encode()
    told = [raw, json.dumps(value)[1:-1].encode(), quote(value, safe="").encode()]
    for shift in range(3):  # base64 reads three bytes at a time
        coded = base64.b64encode(b"\0" * shift + raw)
        told.append(coded[4 if shift else 0 : len(coded) - 4])
    return [trace for trace in told if len(trace) >= 8]
