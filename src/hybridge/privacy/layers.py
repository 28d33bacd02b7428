"""Detectors beyond the always-on layer, and how they read one text together with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hybridge.privacy.config import Layer
from hybridge.privacy.examine import Detect
from hybridge.privacy.finding import Finding
from hybridge.privacy.policy import Policy
from hybridge.privacy.scan import resolve

Look = Callable[[str, Sequence[Finding]], Iterable[Finding]]
"""What one layer finds in a text, given what the always-on layer found in it. Whatever it raises
goes through: the guard keeps such a request here."""

EXTRAS: dict[Layer, str | None] = {
    "chinese_names": "names",
    "english_names": None,
    "secrets": "secrets",
}
"""The extra that each layer needs to be installed, if any."""
NAMES: frozenset[Layer] = frozenset({"chinese_names", "english_names"})

AT_ONCE = 2_000
"""Characters that all layers together read in about 3 ms; what is longer is no work for the event
loop."""


def layered(first: Detect, more: Sequence[Look]) -> Detect:
    """The always-on layer and these on the same text; as before where they claim the same."""
    if not more:
        return first

    def detect(text: str) -> tuple[Finding, ...]:
        found = first(text)
        added = [finding for look in more for finding in look(text, found)]
        return tuple(resolve([*found, *added])) if added else tuple(found)

    return detect


def names_tell(policies: Iterable[Policy]) -> bool:
    """Whether a name that a model finds could change what happens to a request.

    It cannot where whatever is found keeps a request here, or blocks it, all types alike: a name
    is acted upon beside other data only, which have then decided.
    """
    return any(policy.types or policy.action not in ("local_only", "block") for policy in policies)
