"""The head and the adapter that a configuration names."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from hybridge.core.errors import ConfigError, ModelError
from hybridge.gateway.adapting import Terms
from hybridge.routing.adaptation import Adaptation
from hybridge.routing.adapter_file import load
from hybridge.routing.head import Head
from hybridge.settings import Settings


class Scoring(Struct, frozen=True):
    """What prompts are judged by."""

    head: Head
    own: Adaptation | None
    """The adapter out of a file; None where none is configured."""

    @classmethod
    def of(cls, settings: Settings, shipped: Head) -> Scoring:
        """Reads the files; blocking. Raises `ConfigError` that names the key."""
        routing, key = settings.routing, "routing.head"
        try:
            head = shipped if routing.head is None else Head.load(routing.head)
            key = "routing.adapter"
            own = None if routing.adapter is None else load(routing.adapter, head.version)
        except ModelError as error:
            raise ConfigError(f"{key}: {error}") from error
        return cls(head, own)

    def terms(self, settings: Settings) -> Terms:
        """What the online adapter goes by."""
        learning = settings.learning
        return Terms(
            self.head.version,
            timedelta(days=learning.half_life_days),
            views=learning.keep_views,
            before=self.own,
        )
