"""What may leave the device."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Literal

from pydantic import Field, field_validator

from hybridge.core.config import Section
from hybridge.core.request import Handling
from hybridge.privacy.finding import TYPES

Layer = Literal["chinese_names", "english_names", "secrets"]


class KeyPrivacyConfig(Section):
    """Section `privacy` of one row of `server.api_keys`: what it says holds for that key alone, and
    the rest is as in the section `privacy`."""

    action: Handling | None = None
    """As `privacy.action`. None: as there."""
    types: dict[str, Handling] = Field(default_factory=dict)
    """As `privacy.types`, type by type; before those there and before `action`."""
    unexamined: Literal["allow", "local_only", "block"] | None = None
    """As `privacy.unexamined`. None: as there."""

    @field_validator("types")
    @classmethod
    def _known(cls, types: dict[str, Handling]) -> dict[str, Handling]:
        return known_types(types)


class PrivacyConfig(Section):
    """Section `privacy`."""

    action: Handling = "local_only"
    """What happens to a request that holds personal data: `local_only` keeps it on this device,
    `pseudonymise` sends placeholders in its place and puts the values back into the answer, `block`
    refuses it, `allow` lets it go. The strictest of all that is found counts. A name on its own
    (`PERSON`) is no reason to keep a request here: it is pseudonymised unless `types` says what
    else; beside other personal data it counts like them."""
    types: dict[str, Handling] = Field(default_factory=dict)
    """Exceptions by type of data, e.g. `EMAIL: pseudonymise`."""
    layers: Literal["auto"] | tuple[Layer, ...] = "auto"
    """Detectors beyond those that always look: `chinese_names` (extra `names`), `english_names` and
    `secrets` (extra `secrets`). `auto`: each that is installed; those for names only where a name
    could change what happens, which is wherever not all types alike are kept here or blocked."""
    unexamined: Literal["allow", "local_only", "block"] = "allow"
    """What happens to a request with contents that no detector can read: pictures, sound, binary
    files, and text that comes as token ids."""
    on_detector_error: Literal["local_only", "block"] = "local_only"
    """What happens to a request when a detector fails on it."""
    private_sessions: bool = True
    """Whether a session that its caller names (`x-session-id`, `metadata.session_id`, `user`) stays
    on this device once it has shown personal data, since its history holds them; until
    `routing.session_ttl_s` after its last request."""

    @field_validator("types")
    @classmethod
    def _known(cls, types: dict[str, Handling]) -> dict[str, Handling]:
        return known_types(types)


def known_types(types: dict[str, Handling]) -> dict[str, Handling]:
    """The same. Raises `ValueError` that names a type of data which there is not."""
    for name in types:
        if name not in TYPES:
            near = get_close_matches(name.upper(), TYPES, n=1, cutoff=0.0)
            raise ValueError(
                f"unknown type of data `{name}`; did you mean `{near[0]}`? "
                f"Known: {', '.join(sorted(TYPES))}"
            )
    return types
