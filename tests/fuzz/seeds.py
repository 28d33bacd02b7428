"""Good requests of every kind, to start from."""

from __future__ import annotations

from typing import Any

PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"北京"}'},
}

CHAT: dict[str, Any] = {
    "model": "auto",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this? 这是什么?"}, {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}}]},
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "sunny"}]},
        {"role": "user", "content": "Thanks."},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "description": "Weather", "parameters": _SCHEMA}}],
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": _SCHEMA, "strict": True}},
    "temperature": 0, "top_p": 1, "n": 1, "seed": 7, "stop": ["\n\n", "END"], "max_completion_tokens": 20,
    "presence_penalty": 0, "frequency_penalty": 0.5, "logit_bias": {"50256": -100}, "logprobs": True,
    "top_logprobs": 2, "reasoning_effort": "low", "user": "u-1", "metadata": {"session_id": "s-1"},
    "stream": True, "stream_options": {"include_usage": True},
}  # fmt: skip
PLAIN: dict[str, Any] = {
    "model": "auto",
    "messages": [{"role": "user", "content": "Say hello in Chinese."}],
}
MESSAGES: dict[str, Any] = {
    "model": "auto", "max_tokens": 30, "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "Look."},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE.partition(",")[2]}},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "北京"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "sunny"}]}, {"type": "text", "text": "So?"}]},
    ],
    "tools": [{"name": "weather", "description": "Weather", "input_schema": _SCHEMA}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}, "stop_sequences": ["END"],
    "temperature": 0.5, "top_p": 0.9, "top_k": 5, "metadata": {"user_id": "u-1"}, "stream": True,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
}  # fmt: skip
RESPONSES: dict[str, Any] = {
    "model": "auto", "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": PICTURE, "detail": "auto"}]},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
    ],
    "tools": [{"type": "function", "name": "weather", "parameters": _SCHEMA, "strict": True}], "tool_choice": "auto",
    "text": {"format": {"type": "json_schema", "name": "c", "schema": _SCHEMA, "strict": True}},
    "reasoning": {"effort": "low"}, "max_output_tokens": 20, "temperature": 0, "top_p": 1, "store": True,
    "metadata": {"a": "b"}, "parallel_tool_calls": True, "stream": True, "truncation": "disabled",
}  # fmt: skip
COMPLETIONS: dict[str, Any] = {
    "model": "auto", "prompt": "Once upon a time", "max_tokens": 9, "temperature": 0, "top_p": 1, "n": 1, "stop": ["."],
    "logprobs": 2, "echo": True, "seed": 1, "stream": False, "logit_bias": {"1": 1}, "user": "u",
}  # fmt: skip
EMBEDDINGS: dict[str, Any] = {
    "model": "auto",
    "input": ["Hello", "world"],
    "encoding_format": "base64",
    "dimensions": 384,
    "user": "u",
}

SEEDS = (
    ("/v1/chat/completions", CHAT),
    ("/v1/chat/completions", PLAIN),
    ("/v1/route", CHAT),
    ("/v1/messages", MESSAGES),
    ("/v1/messages/count_tokens", MESSAGES),
    ("/v1/responses", RESPONSES),
    ("/v1/responses", {"input": "Hello"}),
    ("/v1/completions", COMPLETIONS),
    ("/v1/embeddings", EMBEDDINGS),
)
