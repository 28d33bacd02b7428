"""R70: every field of a responses request is translated, or refused by its own name."""

from __future__ import annotations

import msgspec
import pytest

from hybridge.core.errors import RequestError
from hybridge.core.request import Feature
from hybridge.core.response import Usage
from hybridge.server.shapes.responses import Responses, ResponsesStore
from hybridge.server.shapes.responses.store import Turn
from hybridge.server.shapes.shape import Asker
from hybridge.testing.backend import whole
from hybridge.testing.clock import ManualClock

PNG = "data:image/png;base64,iVBORw0KGgo="
WEATHER = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
CHAT_WEATHER = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object"}},
}
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}


def asker(tenant="ann", number=1, **headers):
    named = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
    return Asker(f"req-{number:024x}", tenant, named, 0.0)


def shape(store=None, clock=None):
    clock = clock or ManualClock()
    return Responses(store or ResponsesStore(clock), clock)


def read(**said):
    return shape().read({"model": "gpt", "input": "Hi", **said}, asker()).request


def refused(**said):
    with pytest.raises(RequestError) as caught:
        read(**said)
    return caught.value


def test_a_string_is_one_user_turn():
    request = read(instructions="Be brief.")
    assert request.body == {
        "model": "gpt",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
    }
    assert request.last_user_text == "Hi"


def test_no_model_means_auto():
    assert shape().read({"input": "Hi"}, asker()).request.model == "auto"


SAME = {
    "temperature": 0.5, "top_p": 0.9, "user": "u", "safety_identifier": "s",
    "prompt_cache_key": "k", "prompt_cache_retention": "24h", "service_tier": "flex",
}  # fmt: skip
TRANSLATED = {
    **{name: ({name: value}, {name: value}) for name, value in SAME.items()},
    "limit": ({"max_output_tokens": 9}, {"max_completion_tokens": 9}),
    "limit told as 9.0": ({"max_output_tokens": 9.0}, {"max_completion_tokens": 9}),
    "stream": ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
    "no padding": (
        {"stream": True, "stream_options": {"include_obfuscation": False}},
        {"stream": True, "stream_options": {"include_usage": True}},
    ),
    "effort": ({"reasoning": {"effort": "high", "summary": "auto"}}, {"reasoning_effort": "high"}),
    "verbosity": ({"text": {"verbosity": "low"}}, {"verbosity": "low"}),
    "text": ({"text": {"format": {"type": "text"}}}, {"response_format": {"type": "text"}}),
    "json": (
        {"text": {"format": {"type": "json_object"}}},
        {"response_format": {"type": "json_object"}},
    ),
    "schema": (
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True}}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": {}, "strict": True},
            }
        },
    ),
    "logprobs": (
        {"include": ["message.output_text.logprobs"], "top_logprobs": 2},
        {"logprobs": True, "top_logprobs": 2},
    ),
    "logprobs alone": ({"include": ["message.output_text.logprobs"]}, {"logprobs": True}),
    "top logprobs alone": ({"top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}),
    "includes of which there is none": ({"include": ["reasoning.encrypted_content"]}, {}),
    "tools": (
        {"tools": [WEATHER], "tool_choice": "required", "parallel_tool_calls": False},
        {"tools": [CHAT_WEATHER], "tool_choice": "required", "parallel_tool_calls": False},
    ),
    "a whole tool": (
        {"tools": [{**WEATHER, "description": "d", "strict": True, "defer_loading": False}]},
        {
            "tools": [
                {
                    "type": "function",
                    "function": {**CHAT_WEATHER["function"], "description": "d", "strict": True},
                }
            ]
        },
    ),
    "one tool": (
        {"tools": [WEATHER], "tool_choice": {"type": "function", "name": "weather"}},
        {
            "tools": [CHAT_WEATHER],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
        },
    ),
    "allowed tools": (
        {
            "tools": [{"type": "function", "name": "other"}, WEATHER],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "weather"}],
            },
        },
        {"tools": [CHAT_WEATHER], "tool_choice": "required"},
    ),
    "a choice among no tools": ({"tools": [], "tool_choice": "auto"}, {}),
    "what is kept here": ({"store": True, "metadata": {"a": "b"}, "truncation": "disabled"}, {}),
    "what Codex and editors add": (
        {
            "client_metadata": {"session_id": "s"}, "access_programs": {"cyber": "standard"},
            "prompt_cache_options": {"mode": "implicit"}, "stream": True,
            "stream_options": {"reasoning_summary_delivery": "sequential_cutoff"},
            "reasoning": {"effort": "low", "context": "auto", "mode": "standard"},
        },
        {"stream": True, "stream_options": {"include_usage": True}, "reasoning_effort": "low"},
    ),
    "nothing special": ({"background": False, "max_tool_calls": 3, "tools": None}, {}),
}  # fmt: skip


@pytest.mark.parametrize("what", TRANSLATED)
def test_options_are_told_in_the_chat_vocabulary(what):
    said, told = TRANSLATED[what]
    body = dict(read(**said).body)
    assert body.pop("messages")
    assert body == {"model": "gpt", **told}


REFUSED = {
    "model": [({"model": 5}, "model")],
    "input": [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": {"role": "user"}}, "input"),
        ({"input": ["Hi"]}, "input"),
        ({"input": [{"type": "reasoning", "summary": []}]}, "input"),
        ({"input": [{"type": "reasoning", "summary": "x"}]}, "input[0].summary"),
        ({"input": [{}]}, "input[0].type"),
        ({"input": [{"type": 7}]}, "input[0].type"),
        ({"input": [{"type": "computer_call_output"}]}, "input[0].type"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": []}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": "x", "name": "n"}]}, "input[0].name"),
        ({"input": [{"role": "user", "content": ["x"]}]}, "input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "text"}]}]}, "input[0].content[0].type"),
        (
            {"input": [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}]},
            "input[0].content[0].type",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
            "input[0].content[0].text",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
            "input[0].content[0].image_url",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "f"}]}]},
            "input[0].content[0].file_url",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "input[0].content[0].input_audio.data",
        ),
        ({"input": ["x", CALL]}, "input"),
        ({"input": [CALL]}, "input"),
        ({"input": [OUTPUT]}, "input[0].call_id"),
        ({"input": [CALL, OUTPUT, OUTPUT]}, "input[2].call_id"),
        ({"input": [CALL | {"arguments": {}}, OUTPUT]}, "input[0].arguments"),
        ({"input": [CALL | {"caller": {"type": "program"}}, OUTPUT]}, "input[0].caller"),
        ({"input": [CALL, OUTPUT | {"output": None}]}, "input[1].output"),
        ({"input": [{"type": "item_reference", "id": "msg_x_0"}]}, "input[0].id"),
    ],
    "tools": [
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [WEATHER, {"type": "mcp"}]}, "tools[1].type"),
        ({"tools": [{"type": "custom", "name": "x"}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [WEATHER | {"parameters": "x"}]}, "tools[0].parameters"),
        ({"tools": [WEATHER | {"defer_loading": True}]}, "tools[0].defer_loading"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": "any"}, "tool_choice"),
        ({"tools": [WEATHER], "tool_choice": {"type": "mcp"}}, "tool_choice.type"),
        ({"tools": [WEATHER], "tool_choice": {}}, "tool_choice.type"),
        (
            {"tools": [WEATHER], "tool_choice": {"type": "function", "name": "x"}},
            "tool_choice.name",
        ),
        (
            {
                "tools": [WEATHER],
                "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"name": "x"}]},
            },
            "tool_choice.tools[0].name",
        ),
        (
            {
                "tools": [WEATHER],
                "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []},
            },
            "tool_choice.tools",
        ),
    ],
    "text": [
        ({"text": {"format": {"type": "grammar"}}}, "text.format.type"),
        ({"text": {"format": {"type": "json_schema", "schema": {}}}}, "text.format.name"),
        ({"text": {"format": {"type": "json_schema", "name": "n"}}}, "text.format.schema"),
        ({"text": {"verbosity": "loud"}}, "text.verbosity"),
        ({"text": {"tone": "kind"}}, "text.tone"),
    ],
    "reasoning": [
        ({"reasoning": {"effort": 3}}, "reasoning.effort"),
        ({"reasoning": {"summary": "concise"}}, "reasoning.summary"),
        ({"reasoning": {"generate_summary": "auto"}}, "reasoning.generate_summary"),
        ({"reasoning": {"context": "all_turns"}}, "reasoning.context"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode"),
    ],
    "the rest": [
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": "x"}, "top_p"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"include": ["all"]}, "include[0]"),
        ({"background": True}, "background"),
        ({"truncation": "auto"}, "truncation"),
        ({"truncation": "middle"}, "truncation"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"metadata": {"a": 1}}, "metadata"),
        ({"store": "yes"}, "store"),
        ({"stream_options": {}}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": True}}, "stream_options.include_usage"),
        (
            {"stream": True, "stream_options": {"include_obfuscation": True}},
            "stream_options.include_obfuscation",
        ),
        ({"prompt_cache_options": {"prewarm": True}}, "prompt_cache_options.prewarm"),
        ({"messages": [{"role": "user", "content": "x"}]}, "messages"),
        ({"context_management": [{}]}, "context_management"),
        ({"n": 2}, "n"),
        ({"user": 5}, "user"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("said", "param"), [case for cases in REFUSED.values() for case in cases])
def test_what_cannot_be_done_is_refused_by_name(said, param):
    error = refused(**said)
    assert error.param == param
    assert f"`{param}" in error.message or param == "input"


def test_parts_are_told_in_the_chat_vocabulary():
    parts = [
        {
            "type": "input_text",
            "text": "look",
            "prompt_cache_breakpoint": {"mode": "explicit"},
        },
        {"type": "input_image", "image_url": PNG, "detail": "low"},
        {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "auto"},
        {
            "type": "input_file",
            "file_data": "data:application/pdf;base64,AA==",
            "filename": "a.pdf",
        },
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
    ]
    request = read(input=[{"role": "user", "content": parts}])
    assert request.body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
                {
                    "type": "file",
                    "file": {"file_data": "data:application/pdf;base64,AA==", "filename": "a.pdf"},
                },
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
            ],
        }
    ]
    assert request.features >= {Feature.IMAGES, Feature.FILES, Feature.AUDIO}


def test_what_the_model_said_is_the_assistants():
    items = [
        {
            "role": "developer",
            "content": "Be kind.",
            "internal_chat_message_metadata_passthrough": {"turn_id": "t1"},
        },
        {"role": "user", "content": "Hi"},
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []},
                {"type": "refusal", "refusal": "no"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"role": "assistant", "content": "Well", "phase": "commentary"},
        {"role": "user", "content": "Go on"},
    ]
    assert read(input=items).body["messages"] == [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Hello"}, {"type": "refusal", "refusal": "no"}],
        },
        {"role": "assistant", "content": "Well"},
        {"role": "user", "content": "Go on"},
    ]


def call(name):
    return {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}


def output(name, said="ok"):
    return {"type": "function_call_output", "call_id": name, "output": said}


def chat_call(name):
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def tool(name, said="ok"):
    return {"role": "tool", "tool_call_id": name, "content": said}


ASK = {"role": "user", "content": "Go"}
CALLS = {
    "one id twice": (
        [call("a"), call("a"), output("a"), output("a")],
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [chat_call("a"), chat_call("a")],
            },
            tool("a"),
            tool("a"),
        ],
    ),
    "one after the other": (
        [call("a"), output("a"), call("b"), output("b")],
        [
            {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]},
            tool("a"),
            {"role": "assistant", "content": None, "tool_calls": [chat_call("b")]},
            tool("b"),
        ],
    ),
    "at once, with a word before": (
        [{"role": "assistant", "content": "Let me see"}, call("a"), call("b"), output("b"), output("a")],
        [
            {
                "role": "assistant",
                "content": "Let me see",
                "tool_calls": [chat_call("a"), chat_call("b")],
            },
            tool("b"),
            tool("a"),
        ],
    ),
    "a word after": (
        [call("a"), {"role": "assistant", "content": "A moment"}, output("a")],
        [
            {"role": "assistant", "content": "A moment", "tool_calls": [chat_call("a")]},
            tool("a"),
        ],
    ),
    "somebody speaks in between": (
        [call("a"), {"role": "user", "content": "Hurry"}, output("a")],
        [
            {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]},
            tool("a"),
            {"role": "user", "content": "Hurry"},
        ],
    ),
    "a call joins while another waits": (
        [call("a"), call("b"), output("a"), call("c"), output("b"), output("c")],
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [chat_call("a"), chat_call("b"), chat_call("c")],
            },
            tool("a"),
            tool("b"),
            tool("c"),
        ],
    ),
    "parts as output": (
        [call("a"), output("a", [{"type": "input_text", "text": t} for t in ("x", "y")])],
        [
            {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]},
            tool("a", "x\ny"),
        ],
    ),
    "a picture as output": (
        [call("a"), output("a", [{"type": "input_image", "image_url": PNG}])],
        [
            {"role": "assistant", "content": None, "tool_calls": [chat_call("a")]},
            tool("a", "The output is in the next message."),
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Output of the tool call a:"},
                    {"type": "image_url", "image_url": {"url": PNG}},
                ],
            },
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_calls_and_outputs_keep_to_the_order_of_the_chat_vocabulary(what):
    items, messages = CALLS[what]
    assert read(input=[ASK, *items]).body["messages"][1:] == messages


def answered(store, clock, number, said, text="Hello.", tenant="ann", **headers):
    """One turn, with an answer of `text`; gives the request, and the response's id."""
    asked = Responses(store, clock).read(
        {"model": "auto", **said}, asker(tenant, number, **headers)
    )
    body = msgspec.json.decode(asked.writer.whole(whole(text), Usage(1, 1), None))
    return asked.request, body["id"]


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def store(clock):
    return ResponsesStore(clock)


def test_a_follow_up_carries_the_whole_history(store, clock):
    _, first = answered(store, clock, 1, {"input": "One", "instructions": "Be brief."}, "1.")
    _, second = answered(store, clock, 2, {"input": "Two", "previous_response_id": first}, "2.")
    request, _ = answered(
        store,
        clock,
        3,
        {"input": "Three", "previous_response_id": second, "instructions": "Be long."},
    )
    assert request.body["messages"] == [
        {"role": "system", "content": "Be long."},
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "1."},
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": "2."},
        {"role": "user", "content": "Three"},
    ]


def test_a_chain_is_one_session_whatever_its_instructions(store, clock):
    first, one = answered(store, clock, 1, {"input": "One", "instructions": "Be brief."})
    second, two = answered(store, clock, 2, {"input": "Two", "previous_response_id": one})
    third, _ = answered(
        store, clock, 3, {"input": "3", "previous_response_id": two, "instructions": "Sing."}
    )
    other, _ = answered(store, clock, 4, {"input": "One", "instructions": "Sing."})
    assert first.session == second.session == third.session != other.session


@pytest.mark.parametrize(
    ("named", "headers"),
    [({"metadata": {"session_id": "s"}}, {}), ({"user": "s"}, {}), ({}, {"x_session_id": "s"})],
)
def test_a_name_for_the_session_comes_first(store, clock, named, headers):
    first, one = answered(store, clock, 1, {"input": "One"})
    second, _ = answered(
        store, clock, 2, {"input": "Two", "previous_response_id": one, **named}, **headers
    )
    third, _ = answered(store, clock, 3, {"input": "Other", **named}, **headers)
    assert first.session != second.session == third.session
    assert "metadata" not in second.body


def test_an_item_can_be_referred_to(store, clock):
    _, one = answered(store, clock, 1, {"input": "One"}, "1.")
    answer = msgspec.json.decode(store.find("ann", one).told)["output"][0]
    said = [{"type": "item_reference", "id": answer["id"]}, {"role": "user", "content": "Again"}]
    request, _ = answered(store, clock, 2, {"input": said})
    assert [m["content"] for m in request.body["messages"]] == ["1.", "Again"]
    request, _ = answered(store, clock, 3, {"input": said, "previous_response_id": one})
    assert [m["content"] for m in request.body["messages"]] == ["One", "1.", "Again"]
    with pytest.raises(RequestError) as caught:
        answered(store, clock, 4, {"input": said}, tenant="bob")
    assert caught.value.param == "input[0].id"


def test_an_item_that_the_chain_brings_is_not_said_twice(store, clock):
    _, one = answered(store, clock, 1, {"input": "One"}, "1.")
    answer = msgspec.json.decode(store.find("ann", one).told)["output"][0]
    with pytest.raises(RequestError) as caught:
        answered(store, clock, 2, {"input": [answer], "previous_response_id": one})
    assert caught.value.param == "input[0].id"


def test_a_call_of_the_chain_needs_its_output(store, clock):
    told = msgspec.json.encode({"output": [CALL | {"id": "fc_1", "status": "completed"}]})
    store.keep("ann", Turn("resp_1", b"[]", told))
    request, _ = answered(store, clock, 2, {"input": [OUTPUT], "previous_response_id": "resp_1"})
    assert [m["role"] for m in request.body["messages"]] == ["assistant", "tool"]
    with pytest.raises(RequestError) as caught:
        answered(store, clock, 3, {"input": "Never mind", "previous_response_id": "resp_1"})
    assert (caught.value.param, caught.value.code) == ("input", "missing_tool_output")
