"""An embedding request as a value."""

from __future__ import annotations

from hybridge.core.embedding import EmbeddingRequest
from hybridge.core.request import Request

REQUEST = Request("r", "auto", (), {"input": "a secret"})


def test_an_input_is_named_as_the_caller_would_name_it():
    assert EmbeddingRequest(REQUEST, ("a", "b")).place(1) == "input[1]"
    assert EmbeddingRequest(REQUEST, ("a",), listed=False).place(0) == "input"


def test_token_ids_are_no_texts():
    assert EmbeddingRequest(REQUEST, ("a", "b")).texts == ("a", "b")
    assert EmbeddingRequest(REQUEST, ((1, 2), (3,))).texts == ()


def test_nothing_that_was_said_shows_in_a_log():
    assert "secret" not in repr(EmbeddingRequest(REQUEST, ("a secret",)))
