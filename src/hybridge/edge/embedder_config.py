"""Which models turn texts into vectors."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, model_validator

from hybridge.core.config import Section
from hybridge.core.request import AUTO

SHIPPED = "all-minilm-l6-v2"
"""The encoder in this package, by its name."""
Pooling = Literal["mean", "cls"]


class EmbedderConfig(Section):
    """One row of `embeddings.backends`."""

    name: str = Field(min_length=1)
    """Unique among all backends; callers ask for it by this name, or by its model's."""
    engine: Literal["onnx", "openai"] = "onnx"
    """`onnx` computes in this process, `openai` asks a server that has `/embeddings`."""
    model: str = Field(min_length=1)
    """Engine `onnx`: `all-minilm-l6-v2` (shipped; English), or a folder with `model.onnx` and
    `tokenizer.json`. Engine `openai`: the server's name for the model."""
    provider: str = "openai"
    """Engine `openai`: a row of the provider table (`cloud/providers.py`)."""
    base_url: str | None = None
    """Engine `openai`: where the server's `/v1` is. None: the provider's own."""
    api_key_env: str | None = None
    """Engine `openai`: environment variable that holds the key."""
    tier: Literal["edge", "cloud"] | None = None
    """Engine `openai`: where it belongs. None: the edge if it is on this machine or trusted."""
    trusted: bool = False
    """Engine `openai` on another host: treat it as part of this device (private texts may go
    there)."""
    price: Literal["auto"] | Decimal = "auto"
    """Engine `openai` in the cloud: USD per million tokens. `auto` looks the model up in the
    maintained price table."""
    dimensions: int | None = Field(default=None, ge=1)
    """Engine `openai`: length of the vectors to ask for where the caller names none. None: the
    model's own."""
    batch: int | None = Field(default=None, ge=1, le=2048)
    """Texts computed or sent at once. None: 1 for `onnx`, since an INT8 model's vector depends on
    its neighbours in a batch; 2048 for `openai`."""
    max_tokens: int | None = Field(default=None, ge=8)
    """Engine `onnx`: longest text. None: what the folder says, else 512; 256 for the shipped one.
    A longer text is refused, never cut."""
    pooling: Pooling | None = None
    """Engine `onnx`: how token vectors become one, where the graph does not do it. None: what the
    folder says, else `mean`."""
    prefix: str = ""
    """Engine `onnx`: put before every text, e.g. `query: ` as the e5 models want it."""
    languages: tuple[Literal["en", "zh", "ja", "ko", "other"], ...] | None = None
    """Engine `onnx`: what it can read, by script (`en`: Latin letters); a text in another one is
    refused. None: everything, and English for the shipped one."""
    threads: int = Field(default=1, ge=1)
    """Engine `onnx`: compute threads. They run at a lower priority than all else."""
    queue: int = Field(default=16, ge=1)
    """Engine `onnx`: requests that may be under way at once before the next is refused."""
    timeout_s: float = Field(default=60.0, gt=0)
    """Engine `openai`: how long one answer may take."""
    proxy: str | None = None
    """Engine `openai`: an HTTP proxy. None: the system's, never for loopback."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.name == AUTO:
            raise ValueError(f"`{AUTO}` is the name that leaves the choice to embeddings.auto")
        if self.engine == "onnx" and (self.base_url or self.api_key_env):
            raise ValueError("base_url and api_key_env belong to engine `openai`")
        return self


class EmbeddingsConfig(Section):
    """Section `embeddings`."""

    auto: str | None = None
    """The one model that `model: auto` means. None: the first row. There is no fallback from it:
    vectors of two models cannot be compared."""
    backends: tuple[EmbedderConfig, ...] = Field(
        default=(EmbedderConfig(name=SHIPPED, model=SHIPPED),), min_length=1
    )
    """Embedding models. By default the shipped one."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [row.name for row in self.backends]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"`{twice}` is the name of two backends")
        if self.auto is not None and self.auto not in names:
            raise ValueError(f"auto: no backend `{self.auto}`; there are: {', '.join(names)}")
        return self

    @property
    def automatic(self) -> str:
        """The name of the backend behind `auto`."""
        return self.auto or self.backends[0].name
