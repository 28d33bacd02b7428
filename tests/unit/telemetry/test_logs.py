"""R33, R60, B49: logs hold no keys."""

from __future__ import annotations

import io
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.redaction import Redactor
from hybridge.telemetry.logs import configure

KEY = "our-own-key-0123456789"


@pytest.fixture
def logged():
    """What a call of `say` with a logger leaves in the log."""
    level = logging.getLogger().level

    def in_form(form, say) -> str:
        stream = io.StringIO()
        handler = configure(stream, Redactor([KEY]), form=form, level="DEBUG")
        try:
            say(logging.getLogger("hybridge.test"))
        finally:
            logging.getLogger().removeHandler(handler)
        return stream.getvalue()

    yield in_form
    logging.getLogger().setLevel(level)


def _fail(log: logging.Logger) -> None:
    try:
        float(f'https://host/v1?key={KEY}&x=1 Authorization: Bearer {KEY}"')
    except ValueError:
        log.exception("asking with %s failed", KEY)


@pytest.mark.parametrize("form", ["plain", "json"])
def test_no_key_in_message_or_traceback(logged, form):
    text = logged(form, _fail)
    assert KEY[:8] not in text
    assert "[redacted]" in text
    assert "ValueError" in text


def test_json_is_one_object_a_line(logged):
    text = logged("json", lambda log: (_fail(log), log.info("第二行\nnext")))
    first, second = map(json.loads, text.splitlines())
    assert (first["level"], first["logger"]) == ("ERROR", "hybridge.test")
    assert second["message"] == "第二行\nnext"


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abcdefghijkl",
        "authorization: bearer  abcdefghijkl",
        "https://host/x?api_key=abcdefghijkl",
        "https://host/x?a=1&key=abcdefghijkl",
        "'x-api-key': 'abcdefghijkl'",
        "Incorrect API key provided: sk-abcdefghijkl",
        "密钥sk-abcdefghijkl无效",
    ],
)
def test_what_looks_like_a_key_goes_too(text):
    assert "abcdefgh" not in Redactor()(text)


@pytest.mark.parametrize(
    "text", ["", "task-oriented risk-averse", "the key is on the table", "你好"]
)
def test_other_text_stays(text):
    assert Redactor([KEY])(text) == text


@given(st.text(min_size=6), st.text(), st.text())
def test_a_known_secret_never_stays(secret, before, after):
    assert secret not in Redactor([secret])(f"{before}{secret}{after}").replace("[redacted]", "")
