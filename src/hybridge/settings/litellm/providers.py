"""LiteLLM's providers, as rows: what each is called here and what it needs said.

Names, addresses and variables as LiteLLM's `get_llm_provider` has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Counterpart(Struct, frozen=True):
    """A provider of ours for one of theirs."""

    provider: str
    base_url: str | None = None
    """Its address, where our provider's own is another."""
    key_env: str | None = None
    """Where LiteLLM looks for its key, where that is not our provider's usual variable."""
    path: str = ""
    """What their `api_base` lacks and our `base_url` has."""
    local_url: str | None = None
    """Where it is on this machine, when nobody says."""
    prefix: str = ""
    """Of model names, where their prefix is part of ours."""


def _compatible(base_url: str, key_env: str) -> Counterpart:
    return Counterpart("openai", base_url, key_env)


COUNTERPARTS: Mapping[str, Counterpart] = {
    "openai": Counterpart("openai"),
    "anthropic": Counterpart("anthropic", path="/v1"),
    "azure": Counterpart("azure", key_env="AZURE_API_KEY", path="/openai/v1"),
    "dashscope": Counterpart("dashscope"),
    "deepseek": Counterpart("deepseek"),
    "gemini": Counterpart("gemini"),
    "groq": Counterpart("groq"),
    "mistral": Counterpart("mistral"),
    "moonshot": Counterpart("moonshot"),
    "openrouter": Counterpart("openrouter"),
    "together_ai": Counterpart("together", key_env="TOGETHERAI_API_KEY"),
    "xai": Counterpart("xai"),
    "zai": _compatible("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    "cerebras": _compatible("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepinfra": _compatible("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "fireworks_ai": _compatible("https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
    "nvidia_nim": _compatible("https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
    "perplexity": _compatible("https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"),
    "sambanova": _compatible("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    "hosted_vllm": Counterpart("vllm"),
    "lm_studio": Counterpart("openai", local_url="http://127.0.0.1:1234/v1"),
    "ollama": Counterpart("ollama", path="/v1", local_url="http://127.0.0.1:11434"),
    "ollama_chat": Counterpart("ollama", path="/v1", local_url="http://127.0.0.1:11434"),
    "custom_openai": Counterpart("openai"),
    "litellm_proxy": Counterpart("openai"),
    "openai_like": Counterpart("openai"),
}
_BY_MODEL = {"claude": "anthropic", "deepseek": "deepseek", "grok": "xai", "mistral": "mistral"}
"""Beginnings of models' names that LiteLLM knows without a provider."""


def split(model: str, *, addressed: bool) -> tuple[str, str] | None:
    """Provider and model of a LiteLLM model; None for a provider without a counterpart.

    `addressed`: it has an `api_base`, so that a server that speaks the common format is meant.
    """
    provider, slash, name = model.partition("/")
    if slash and provider in COUNTERPARTS:
        return provider, name
    if addressed:
        return "openai", model
    if slash:
        return None
    known = (theirs for begin, theirs in _BY_MODEL.items() if model.startswith(begin))
    return next(known, "openai"), model
