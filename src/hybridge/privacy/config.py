"""What may leave the device."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hybridge.core.config import Section

Action = Literal["local_only", "pseudonymise", "block", "allow"]


class PrivacyConfig(Section):
    """Section `privacy`."""

    action: Action = "local_only"
    """What happens to a request that holds personal data."""
    types: dict[str, Action] = Field(default_factory=dict)
    """Exceptions by type of data, e.g. `EMAIL: allow`."""
