"""Providers: rows of data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hybridge.cloud.limits import LimitField

Api = Literal["chat_completions", "messages"]
ToolIds = Literal["as_sent", "alphanumeric9"]
ImageUrls = Literal["pass", "inline"]


@dataclass(frozen=True, slots=True)
class Provider:
    """What differs between providers."""

    name: str
    base_url: str
    """Where its chat completions are, without `/chat/completions`; or its `/messages`."""
    key_env: str | None
    """The environment variable in which its key usually lies."""
    limit_field: LimitField = "as_sent"
    """The one name it knows for the limit of tokens; `as_sent` passes on what the caller wrote."""
    priced_as: str | None = None
    """Its name in the price table, where that differs."""
    tool_ids: ToolIds = "as_sent"
    """How it wants ids of tool calls spelled."""
    api: Api = "chat_completions"
    """`messages` is Anthropic's own."""
    image_urls: ImageUrls = "pass"
    """Whether it fetches pictures by itself; where it does not, they are sent `inline`."""


_ROWS = (
    Provider("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", api="messages"),
    Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Provider("azure", "", "AZURE_OPENAI_API_KEY"),
    Provider("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "max_tokens"),
    Provider(
        "dashscope",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "max_tokens",
        "aliyun",
    ),
    Provider(
        "moonshot", "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY", "max_tokens", "moonshotai"
    ),
    Provider("zhipu", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY", "max_tokens"),
    Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "max_tokens",
        tool_ids="alphanumeric9",
    ),
    Provider("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Provider("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "max_tokens"),
    Provider("xai", "https://api.x.ai/v1", "XAI_API_KEY", priced_as="x-ai"),
    Provider(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        priced_as="google",
    ),
    Provider("ollama", "http://127.0.0.1:11434/v1", None, "max_tokens", image_urls="inline"),
    Provider("vllm", "http://127.0.0.1:8000/v1", None),
)

PROVIDERS: Mapping[str, Provider] = {row.name: row for row in _ROWS}
"""By name. Any other server that speaks the format: `openai` with a `base_url` of its own."""
