"""An error names the field at fault as its caller spelled it, whole or in a stream."""

from __future__ import annotations

import re

import msgspec
import pytest

from hybridge.server.errors import Failure
from hybridge.server.shapes.completions import TextCompletions
from hybridge.server.shapes.completions.request import FIELDS as COMPLETIONS
from hybridge.server.shapes.messages import Messages
from hybridge.server.shapes.messages.fields import FIELDS as MESSAGES
from hybridge.server.shapes.responses import Responses, ResponsesStore
from hybridge.server.shapes.responses.fields import FIELDS as RESPONSES
from hybridge.server.shapes.shape import Asker
from hybridge.testing.clock import ManualClock

CLOCK = ManualClock()
ASKER = Asker("req-0a", "ann", {}, 0.0)
SCHEMA = {"type": "object"}
VOCABULARIES = {
    "completions": (
        TextCompletions(),
        COMPLETIONS,
        {
            "prompt": "Hi", "max_tokens": 9, "temperature": 1, "top_p": 1, "n": 2, "stop": "x",
            "seed": 1, "presence_penalty": 1, "frequency_penalty": 1, "logit_bias": {"1": 1},
            "user": "u", "logprobs": 1, "stream": True,
        },
    ),
    "messages": (
        Messages(lambda _: 1),
        MESSAGES,
        {
            "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9, "temperature": 1,
            "top_p": 1, "top_k": 1, "stop_sequences": ["x"], "metadata": {"user_id": "u"},
            "tools": [{"name": "f", "input_schema": SCHEMA}],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
            "stream": True,
        },
    ),
    "responses": (
        Responses(ResponsesStore(CLOCK), CLOCK),
        RESPONSES,
        {
            "input": "Hi", "max_output_tokens": 9, "temperature": 1, "top_p": 1, "user": "u",
            "safety_identifier": "s", "prompt_cache_key": "k", "prompt_cache_retention": "24h",
            "service_tier": "flex", "top_logprobs": 1, "reasoning": {"effort": "low"},
            "text": {"verbosity": "low", "format": {"type": "json_object"}},
            "tools": [{"type": "function", "name": "f"}], "tool_choice": "required",
            "parallel_tool_calls": False, "stream": True,
        },
    ),
}  # fmt: skip


def error_in(told: bytes):
    """The error of a body, or of a stream's last event."""
    last = [line for line in told.splitlines() if line][-1]
    return msgspec.json.decode(last.removeprefix(b"data: "))["error"]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_every_field_that_a_backend_may_blame_is_told_as_the_caller_knows_it(vocabulary):
    shape, fields, said = VOCABULARIES[vocabulary]
    asked = shape.read(dict(said), ASKER)
    for name in asked.request.body.keys() - {"stream", "stream_options", "model"}:
        failed = Failure(400, f"`{name}` is wrong", "invalid_request_error", "no", name)
        for told in (shape.failure(failed, "req-0a"), asked.writer.failed(failed)):
            error = error_in(told)
            assert re.split(r"[.\[]", error["param"])[0] in fields, name
            assert error["message"] == f"`{error['param']}` is wrong"


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_a_field_that_the_vocabulary_does_not_have_keeps_its_name(vocabulary):
    shape, _, _ = VOCABULARIES[vocabulary]
    failed = Failure(400, "`stop` is not supported", "x", "unknown_parameter", "stop")
    assert msgspec.json.decode(shape.failure(failed, "req-0a"))["error"]["param"] == "stop"
