"""How servers word what they have no code for, in English and in Chinese: rows of data.

Only the last resort of `cloud.faults`, and only for a 400, 413 or 422: structure comes first. A row
is met when all of its parts are in the message, in any case.
"""

from __future__ import annotations

from collections.abc import Iterable

Row = tuple[str, ...]

OVERFLOWS: tuple[Row, ...] = (
    ("context length",),  # vLLM, DeepSeek, SGLang, LM Studio, OpenAI
    ("context window",),  # OpenAI, MiniMax
    ("context limit",),  # Anthropic
    ("context size",),  # llama-server
    ("maximum model length",),  # vLLM
    ("maximum prompt length",),  # xAI
    ("model token limit",),  # Moonshot
    ("too many tokens",),  # Cohere
    ("too many input tokens",),
    ("prompt is too long",),  # Anthropic
    ("prompt exceeds max length",),  # Zhipu
    ("prompt too long",),
    ("input is too long",),  # Bedrock
    ("input too long",),
    ("input length", "exceed"),
    ("range of input length",),  # DashScope
    ("input token count", "exceeds"),  # Gemini
    ("prompt token count", "exceeds"),
    ("max input characters",),  # Qianfan
    ("reduce the length of the",),  # Groq, older OpenAI
    ("reduce your message size",),  # Groq, where one request is beyond a minute's tokens
    ("`inputs` tokens", "must be <="),  # TGI, Together
    ("上下文长度",),
    ("上下文窗口",),
    ("最大上下文",),
    ("超出最大长度",),
    ("超过最大长度",),
    ("超出模型", "长度"),
    ("超过模型", "长度"),
    ("输入过长",),
    ("输入太长",),
    ("输入超长",),
    ("输入长度", "超"),
    ("prompt 超长",),  # Zhipu
    ("prompt过长",),
    ("prompt 过长",),
    ("提示词过长",),
    ("提示词太长",),
    ("tokens 数", "超"),
    ("tokens数", "超"),
    ("token 数", "超"),
    ("token数", "超"),
)
"""The prompt does not fit."""

NOT_OVERFLOWS: tuple[Row, ...] = (
    ("max_tokens is too large",),  # OpenAI: of the answer's limit alone
    ("max_completion_tokens is too large",),
    ("max_tokens", "less than or equal to"),
    ("max_tokens", "参数"),
    ("invalid token",),
)
"""What only sounds like it."""

UNABLE: tuple[Row, ...] = (
    ("not supported with this model",),  # OpenAI
    ("not supported for this model",),  # Anthropic
    ("not supported by this model",),
    ("deprecated for this model",),  # Anthropic, of `temperature`
    ("model does not support",),
    ("does not support image",),
    ("not a multimodal model",),  # vLLM
    ("模型不支持",),
)
"""The model cannot do what was asked, though another may."""

NOT_KNOWN: tuple[Row, ...] = (
    ("unsupported parameter",),  # OpenAI
    ("not supported",),
    ("unrecognized",),
    ("unknown",),
    ("unexpected",),
    ("not permitted",),  # pydantic: Mistral, FastAPI
    ("not allowed",),
    ("forbidden",),
    ("不支持",),
    ("未知",),
)
"""A field's name, not its value, is what the server objects to."""


def met(rows: Iterable[Row], message: str) -> bool:
    """Whether any row is met by the message."""
    said = message.lower()
    return any(all(part in said for part in row) for row in rows)
