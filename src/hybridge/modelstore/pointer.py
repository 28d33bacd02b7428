"""Which version of a model is in force, and the steps that change it. Pure: values in, values out.

activate X ──▶ X is active, what was active is remembered
activate X, canary ──▶ X is on trial beside the active one
activate X again ──▶ X is promoted: active, and no longer on trial
roll back ──▶ what is on trial is withdrawn; else what was active before is active again
"""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime
from typing import Literal

from msgspec import Struct

from hybridge.core.errors import ModelError

REMEMBERED = 8
"""So many steps can be taken back, as long as their versions are there."""

What = Literal["activated", "on trial", "promoted", "withdrawn", "rolled back"]
By = Literal["operator", "gateway"]


class Cause(Struct, frozen=True):
    """Who changes something, when and why."""

    at: datetime
    by: By = "operator"
    reason: str = ""


class Happened(Struct, frozen=True):
    """One entry of a model's history."""

    number: int
    """From 1, without a gap."""
    at: datetime
    what: What
    version: str | None
    """The version that it is about: now active, on trial, or withdrawn. None: no version, so that
    the catalogue's own weights are in force."""
    before: str | None
    """The version that was active until then."""
    by: By
    reason: str = ""


class Canary(Struct, frozen=True):
    """A version on trial."""

    version: str
    share: float
    """Of the requests, above 0 and below 1."""


class Pointer(Struct, frozen=True):
    """What is in force. One small file, replaced in one step."""

    active: str | None = None
    """None: no version, so that the catalogue's own weights are in force."""
    before: tuple[str | None, ...] = ()
    """What was active before it, the latest last."""
    trial: Canary | None = None
    last: Happened | None = None
    """The step that made it; the history has it too, or will have it at the next step."""

    @property
    def number(self) -> int:
        """Of the step that made it."""
        return 0 if self.last is None else self.last.number

    @property
    def reason(self) -> str:
        """Why that step was made, where it was said."""
        return "" if self.last is None else self.last.reason

    @property
    def held(self) -> frozenset[str]:
        """Versions that must not be deleted: active, on trial, and the one to roll back to."""
        trial = None if self.trial is None else self.trial.version
        back = self.before[-1] if self.before else None
        return frozenset(v for v in (self.active, trial, back) if v is not None)


def activated(pointer: Pointer, version: str, cause: Cause) -> Pointer:
    """`version` is active from now on; the same pointer where nothing changes."""
    on_trial = None if pointer.trial is None else pointer.trial.version
    if version == pointer.active:
        return pointer if on_trial is None else withdrawn(pointer, cause)
    what: What = "promoted" if version == on_trial else "activated"
    before = (*pointer.before, pointer.active)[-REMEMBERED:]
    return Pointer(version, before, None, _step(pointer, what, version, cause))


def on_trial(pointer: Pointer, canary: Canary, cause: Cause) -> Pointer:
    """A version gets its share from now on. Raises `ModelError` where it cannot."""
    if not 0 < canary.share < 1:
        raise ModelError(f"a canary's share is between 0 and 1, not {canary.share:g}")
    if canary.version == pointer.active:
        raise ModelError(f"{canary.version} is active already, so it cannot be on trial")
    if canary == pointer.trial:
        return pointer
    step = _step(pointer, "on trial", canary.version, cause)
    return Pointer(pointer.active, pointer.before, canary, step)


def withdrawn(pointer: Pointer, cause: Cause) -> Pointer:
    """What is on trial is so no longer."""
    assert pointer.trial is not None  # noqa: S101 - callers looked
    step = _step(pointer, "withdrawn", pointer.trial.version, cause)
    return Pointer(pointer.active, pointer.before, None, step)


def rolled_back(
    pointer: Pointer, there: Container[str | None], cause: Cause, *, failed: str | None = None
) -> Pointer:
    """The last step is taken back, to a version that is still `there`, other than the `failed` one.

    Raises `ModelError` where there is nothing to go back to.
    """
    if pointer.trial is not None and failed in (None, pointer.trial.version):
        return withdrawn(pointer, cause)
    before = list(pointer.before)
    while before:
        version = before.pop()
        if (
            version in there
            and version != pointer.active
            and (version is None or version != failed)
        ):
            step = _step(pointer, "rolled back", version, cause)
            return Pointer(version, tuple(before), None, step)
    raise ModelError(f"there is nothing to roll back to from {pointer.active or 'no version'}")


def _step(pointer: Pointer, what: What, version: str | None, cause: Cause) -> Happened:
    number = pointer.number + 1
    return Happened(number, cause.at, what, version, pointer.active, cause.by, cause.reason)
