"""What may leave the device."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Literal

from pydantic import Field, field_validator

from hybridge.core.config import Section
from hybridge.privacy.finding import TYPES

Action = Literal["local_only", "pseudonymise", "block", "allow"]


class PrivacyConfig(Section):
    """Section `privacy`."""

    action: Action = "local_only"
    """What happens to a request that holds personal data: `local_only` keeps it on this device,
    `block` refuses it, `allow` lets it go. `pseudonymise` is not available yet and does what
    `local_only` does."""
    types: dict[str, Action] = Field(default_factory=dict)
    """Exceptions by type of data, e.g. `EMAIL: allow`."""

    @field_validator("types")
    @classmethod
    def _known(cls, types: dict[str, Action]) -> dict[str, Action]:
        for name in types:
            if name not in TYPES:
                near = get_close_matches(name.upper(), TYPES, n=1, cutoff=0.0)
                raise ValueError(
                    f"unknown type of data `{name}`; did you mean `{near[0]}`? "
                    f"Known: {', '.join(sorted(TYPES))}"
                )
        return types

    def action_for(self, kind: str) -> Action:
        """What happens to data of this type."""
        return self.types.get(kind, self.action)

    @property
    def lets_all_go(self) -> bool:
        """Whether nothing that could be found would change anything."""
        return self.action == "allow" and set(self.types.values()) <= {"allow"}
