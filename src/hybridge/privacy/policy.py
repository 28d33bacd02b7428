"""What is done about what was found: pure, from findings to one decision (R31)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from hybridge.core.request import Handling
from hybridge.privacy.config import KeyPrivacyConfig, PrivacyConfig
from hybridge.privacy.finding import Finding, Level

STRICTNESS: Mapping[Handling, int] = {"allow": 0, "pseudonymise": 1, "local_only": 2, "block": 3}
NAME = "PERSON"
_NO_EXCEPTIONS: Mapping[str, Handling] = {}


class Decision(Struct, frozen=True):
    """What happens to a request, and to each thing that was found in it."""

    handling: Handling
    """The strictest of all."""
    found: Mapping[Handling, Sequence[Finding]]
    """What is acted upon, by what it asks for; the same value may be in one of them only."""
    unread: int = 0
    """Contents that no detector could read."""


class Policy(Struct, frozen=True):
    """The rules for one API key."""

    action: Handling = "local_only"
    types: Mapping[str, Handling] = _NO_EXCEPTIONS
    unexamined: Handling = "allow"
    on_detector_error: Handling = "local_only"

    @classmethod
    def of(cls, config: PrivacyConfig, own: KeyPrivacyConfig | None = None) -> Self:
        """The configured rules, and those that a key has of its own before them."""
        policy = cls(config.action, config.types, config.unexamined, config.on_detector_error)
        if own is None:
            return policy
        # An action of its own is for all types that the key itself makes no exception of.
        types = own.types if own.action is not None else config.types | own.types
        action, unexamined = own.action or config.action, own.unexamined or config.unexamined
        return cls(action, types, unexamined, config.on_detector_error)

    @property
    def lets_all_go(self) -> bool:
        """Whether nothing that could be found would change anything."""
        return {self.action, self.unexamined, *self.types.values()} == {"allow"}

    def decide(
        self, findings: Sequence[Finding], unread: int = 0, *, least: Handling = "allow"
    ) -> Decision:
        """`least`: what the caller wants done at least about whatever is found."""
        found: dict[Handling, list[Finding]] = {}
        for finding in findings:
            handling = self._handling(finding, findings)
            if handling is not None:
                found.setdefault(_stricter(handling, least), []).append(finding)
        strictest: Handling = "allow" if not unread else self.unexamined
        for handling in found:
            strictest = _stricter(strictest, handling)
        return Decision(strictest, found, unread)

    def _handling(self, finding: Finding, findings: Sequence[Finding]) -> Handling | None:
        """None for what is not acted upon: a weak sign, unless its type has a rule of its own and
        is a name, for which there is no surer sign in most texts."""
        own = self.types.get(finding.type)
        if finding.type != NAME:
            return None if finding.level is Level.LOW else own or self.action
        if own is not None:
            return own
        if finding.level is Level.LOW:
            return None
        alone = all(other.type == NAME or other.level is Level.LOW for other in findings)
        return _milder(self.action, "pseudonymise") if alone else self.action


def _stricter(one: Handling, other: Handling) -> Handling:
    return one if STRICTNESS[one] >= STRICTNESS[other] else other


def _milder(one: Handling, other: Handling) -> Handling:
    return one if STRICTNESS[one] <= STRICTNESS[other] else other
