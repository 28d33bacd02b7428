"""The models elsewhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from hybridge.cloud.pictures.config import PicturesConfig
from hybridge.core.config import Section


class PriceConfig(Section):
    """A price of your own, USD per million tokens."""

    input_usd: Decimal = Field(ge=0)
    """For what is sent."""
    output_usd: Decimal = Field(ge=0)
    """For what comes back."""
    cached_usd: Decimal | None = Field(default=None, ge=0)
    """For the part of the prompt that the provider had cached. None: as `input_usd`."""


class TimeoutsConfig(Section):
    """How long an upstream may take, in seconds."""

    connect_s: float = Field(default=5.0, gt=0)
    """Until the connection stands."""
    first_byte_s: float = Field(default=60.0, gt=0)
    """Streams: from then until the answer begins."""
    between_chunks_s: float = Field(default=60.0, gt=0)
    """Between two pieces of a stream."""
    total_s: float = Field(default=600.0, gt=0)
    """For the whole answer."""


class CloudBackendConfig(Section):
    """One row of `cloud.backends`."""

    name: str = Field(min_length=1)
    """Unique over both tiers; callers may ask for it by this name."""
    provider: str = "openai"
    """A row of the provider table (`cloud/providers.py`)."""
    model: str = Field(min_length=1)
    """The model's name as the provider knows it."""
    base_url: str | None = None
    """None: the provider's own."""
    api_key_env: str | None = None
    """Environment variable that holds the key. None: the provider's usual one; a missing usual one
    means no key."""
    price: Literal["auto"] | PriceConfig = "auto"
    """`auto` looks the model up in the maintained price table."""
    context_tokens: int | None = Field(default=None, ge=1)
    """Prompt and answer together. None: unknown, and never a reason to pass it over."""
    features: list[str] | None = None
    """What it can do beyond chat. None: all that its API can; the upstream refuses what its model
    cannot."""
    max_tokens: int = Field(default=8192, ge=1)
    """Provider `anthropic`, whose API wants a limit: longest answer where the request names none,
    its thinking aside."""
    limit_field: Literal["as_sent", "max_tokens", "max_completion_tokens"] | None = None
    """The one name that it knows for the limit of tokens; sent under both names,
    `max_completion_tokens` counts. None: the provider's usual one. A name that it refuses is
    replaced by the other, and that is remembered."""
    tool_ids: Literal["as_sent", "alphanumeric9"] | None = None
    """How ids of tool calls are spelled for it; `alphanumeric9` for servers that take nothing else,
    as Mistral's. None: the provider's usual way, learnt where a conversation is refused for it."""
    image_urls: Literal["pass", "inline"] | None = None
    """What becomes of a picture at an address: `pass` leaves it to the upstream to fetch it,
    `inline` fetches it here and sends the picture itself. None: the provider's usual way."""
    proxy: str | None = None
    """An HTTP proxy for this backend, or `direct` for none. None: the system's, never for
    loopback."""
    timeouts: TimeoutsConfig = TimeoutsConfig()
    """How long it may take."""


class CloudConfig(Section):
    """Section `cloud`."""

    backends: tuple[CloudBackendConfig, ...] = ()
    """Models elsewhere. Without one, everything is answered by the edge."""
    pictures: PicturesConfig = PicturesConfig()
    """How pictures at an address are fetched, for the backends of both tiers that want them
    `inline`."""
