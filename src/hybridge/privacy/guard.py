"""Decides how far a request may travel (R30-R32), before anyone is asked anything."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.errors import RequestError
from hybridge.core.request import Clearance, Request
from hybridge.privacy.config import PrivacyConfig
from hybridge.privacy.contents import contents
from hybridge.privacy.examine import Detect, Examined, examine
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.scan import PIECE, detect

_log = logging.getLogger("hybridge.privacy")

_MOST_NAMED = 8
"""Findings that a reason names one by one."""


class Screened(Struct, frozen=True):
    """A request with its clearance."""

    request: Request
    findings: tuple[Finding, ...] = ()
    """Weak ones (`LOW`) included, though nothing is done about them."""
    reasons: tuple[str, ...] = ()
    """Types and places, never values."""


class Guard:
    """Screens requests under one policy. Fails closed: what cannot be examined stays here."""

    def __init__(self, config: PrivacyConfig, detect: Detect = detect) -> None:
        self._config = config
        self._detect = detect

    async def screen(self, request: Request) -> Screened:
        """The request, cleared for this device only where the policy or the caller wants it so.

        Raises `RequestError` with the code `privacy_blocked` where the policy blocks it. Anything
        longer than one piece is examined in a thread, so that other requests go on meanwhile.
        """
        if request.wish.private:
            request = replace(request, clearance=Clearance.DEVICE_ONLY)
        if self._config.lets_all_go:
            return Screened(request, reasons=_wished(request))
        try:
            examined = await self._examined(request)
        except Exception as error:  # whatever breaks: unexamined is as good as private
            _log.error(
                "the privacy check failed: %s", type(error).__name__
            )  # R33: its text may hold the value
            kept = replace(request, clearance=Clearance.DEVICE_ONLY)
            reason = "privacy: the check failed, so the request is kept on this device"
            return Screened(kept, reasons=(*_wished(request), reason))
        return decide(request, examined, self._config)

    async def _examined(self, request: Request) -> Examined:
        pieces = contents(request)
        if sum([len(piece.text) for piece in pieces]) <= PIECE:
            return examine(pieces, self._detect)
        return await asyncio.to_thread(examine, pieces, self._detect)


def decide(request: Request, examined: Examined, config: PrivacyConfig) -> Screened:
    """Applies the policy to what was found; pure. Raises as `Guard.screen` does."""
    sure = [finding for finding in examined.findings if finding.level >= Level.MEDIUM]
    if not sure and not examined.unread:
        return Screened(request, examined.findings, _wished(request))
    blocked = [finding for finding in sure if config.action_for(finding.type) == "block"]
    if blocked:
        raise RequestError(
            f"the request holds personal data that may not be processed: {_named(blocked)}",
            param=blocked[0].place.partition("[")[0] or None,
            code="privacy_blocked",
        )
    reasons = [*_wished(request)]
    clearance = request.clearance
    for action, reason in _KEPT.items():
        kept = [finding for finding in sure if config.action_for(finding.type) == action]
        if kept:
            clearance = Clearance.DEVICE_ONLY
            reasons.append(reason.format(_named(kept)))
    allowed = [finding for finding in sure if config.action_for(finding.type) == "allow"]
    if allowed:
        reasons.append(f"privacy: allowed by the policy: {_named(allowed)}")
    if examined.unread:
        reasons.append(f"privacy: attachments not examined: {examined.unread}")
    return Screened(replace(request, clearance=clearance), examined.findings, tuple(reasons))


_KEPT = {
    "local_only": "privacy: kept on this device: {}",
    "pseudonymise": "privacy: kept on this device, since pseudonyms are not available yet: {}",
}


def _wished(request: Request) -> tuple[str, ...]:
    return ("privacy: kept on this device at the caller's wish",) if request.wish.private else ()


def _named(findings: Iterable[Finding]) -> str:
    """`CN_ID in messages[0], PHONE in tools[1]`, each once."""
    names = list(dict.fromkeys(f"{finding.type} in {finding.place}" for finding in findings))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
