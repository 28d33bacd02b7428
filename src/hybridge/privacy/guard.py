"""Decides how far a request may travel (R30-R32), before anyone is asked anything."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.errors import RequestError
from hybridge.core.request import Clearance, Disguise, Request
from hybridge.privacy.contents import contents, plain_text
from hybridge.privacy.examine import Detect, Examined, Value, examine, examine_plain, values
from hybridge.privacy.finding import Finding
from hybridge.privacy.policy import STRICTNESS, Decision, Policy
from hybridge.privacy.scan import PIECE, detect
from hybridge.privacy.sessions import PrivateSessions

Search = Callable[[Request], Sequence[Value]]
"""All that is to be hidden in a request."""
Pseudonymise = Callable[[Request, Search], Disguise | None]
"""Makes a disguise in which the search finds nothing any more; None where it cannot."""
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


class Blocked(RequestError):
    """The policy does not let a request be processed at all. Code `privacy_blocked`."""

    def __init__(
        self, message: str, findings: tuple[Finding, ...] = (), param: str | None = None
    ) -> None:
        super().__init__(message, param=param, code="privacy_blocked")
        self.findings = findings


class Guard:
    """Screens requests under the policies of their keys. Fails closed: what cannot be examined
    stays here."""

    def __init__(
        self,
        policy: Policy,
        keys: Mapping[str, Policy] | None = None,
        *,
        detect: Detect = detect,
        at_once: int = PIECE,
        pseudonymise: Pseudonymise = lambda _request, _search: None,
        sessions: PrivateSessions | None = None,
        is_named: Callable[[Request], bool] = lambda _request: True,
    ) -> None:
        """`keys`: policies by name of the API key, for those with one of their own. `at_once`:
        characters that `detect` may look at on the event loop. `sessions`: where it is remembered
        which of them have shown personal data; None: nowhere. `is_named`: whether the caller named
        the session. One that is only guessed from how a conversation opens is not remembered: many
        begin with the same words, and each sends its whole history."""
        self._policy = policy
        self._keys = keys or {}
        self._detect = detect
        self._at_once = at_once
        self._pseudonymise = pseudonymise
        self._sessions = sessions
        self._is_named = is_named

    async def screen(
        self, request: Request, *, unreadable: int = 0, disguisable: bool = True
    ) -> Screened:
        """The request, cleared for this device only, or in disguise, where anyone wants it so: the
        policy, the caller, or its session.

        `unreadable`: how much of it no detector could read, besides what its body holds.
        `disguisable`: whether placeholders would do; else it stays here instead. Raises
        `Blocked` where the policy wants it so. Anything longer
        than `at_once` is examined in a thread, so that other requests go on meanwhile.
        """
        policy = self._keys.get(request.tenant, self._policy)
        request, reasons = self._bound(request)
        wish = request.wish.handling
        if policy.lets_all_go and wish == "allow":
            return Screened(request, reasons=reasons)
        try:
            examined = await self._examined(request)
        except Exception as error:  # whatever breaks: unexamined is as good as private
            return _unchecked(request, policy, reasons, error)
        if not examined.findings and not examined.unread and not unreadable:
            return Screened(request, reasons=reasons)
        unread = examined.unread + unreadable
        decision = policy.decide(examined.findings, unread, least=wish)
        disguise = None
        if decision.handling == "pseudonymise" and disguisable:
            disguise = await self._disguised(request, policy)
        screened = self._carried_out(request, decision, disguise)
        if examined.unread:
            reasons += (f"privacy: attachments not examined: {examined.unread}",)
        return Screened(screened.request, examined.findings, (*screened.reasons, *reasons))

    def _bound(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """Kept here before anyone has looked into it: by its caller, or by its session."""
        if request.wish.private:
            return _kept(request), ("privacy: kept on this device at the caller's wish",)
        if self._sessions is not None and self._sessions.holds(request.session):
            self._sessions.note(request.session)
            reason = "privacy: kept on this device, since its session has shown personal data"
            return _kept(request), (reason,)
        return request, ()

    async def _examined(self, request: Request) -> Examined:
        text = plain_text(request)
        if text is not None and len(text) <= self._at_once:
            return examine_plain(request, text, self._detect)
        pieces = contents(request)
        if sum([len(piece.text) for piece in pieces]) <= self._at_once:
            return examine(pieces, self._detect)
        return await asyncio.to_thread(examine, pieces, self._detect)

    async def _disguised(self, request: Request, policy: Policy) -> Disguise | None:
        if request.clearance is not Clearance.ANYWHERE:
            return None

        def search(asked: Request) -> list[Value]:
            return self._to_hide(asked, policy)

        try:
            if sum([len(piece.text) for piece in contents(request)]) <= self._at_once:
                return self._pseudonymise(request, search)
            return await asyncio.to_thread(self._pseudonymise, request, search)
        except Exception as error:  # whatever breaks: what is not hidden stays here
            _log.error("pseudonymising failed: %s", type(error).__name__)
            return None

    def _to_hide(self, request: Request, policy: Policy) -> list[Value]:
        found = values(contents(request), self._detect)
        decision = policy.decide([finding for finding, _ in found], least=request.wish.handling)
        allowed = set(decision.found.get("allow", ()))
        acted_on = {finding for some in decision.found.values() for finding in some} - allowed
        return [value for finding, value in found if finding in acted_on]

    def _carried_out(
        self, request: Request, decision: Decision, disguise: Disguise | None
    ) -> Screened:
        if decision.handling == "block":
            raise _blocked(decision)
        reasons = [_told(one, found) for one, found in decision.found.items()]
        if decision.handling == "allow":
            return Screened(request, reasons=tuple(reasons))
        if disguise is not None:
            request = replace(request, clearance=Clearance.DISGUISED, disguise=disguise)
            return Screened(request, reasons=tuple(reasons))
        if decision.handling == "pseudonymise":
            reasons = [_told("local_only", found) for found in decision.found.values()]
            if request.clearance is Clearance.ANYWHERE:
                reasons.append("privacy: kept here, since placeholders cannot stand for it")
        if self._sessions is not None and decision.found and self._is_named(request):
            self._sessions.note(request.session)
        return Screened(_kept(request), reasons=tuple(reasons))


_TOLD = {
    "local_only": "kept on this device",
    "pseudonymise": "pseudonymised for whoever is not on this device",
    "allow": "allowed by the policy",
    "block": "blocked",
}


def _kept(request: Request) -> Request:
    return replace(request, clearance=Clearance.DEVICE_ONLY, disguise=None)


def _told(handling: str, findings: Iterable[Finding]) -> str:
    return f"privacy: {_TOLD[handling]}: {_named(findings)}"


def _unchecked(
    request: Request, policy: Policy, reasons: tuple[str, ...], error: Exception
) -> Screened:
    # R33: its text may hold the value
    _log.error("the privacy check failed: %s", type(error).__name__)
    least = STRICTNESS[request.wish.handling]
    if max(least, STRICTNESS[policy.on_detector_error]) >= STRICTNESS["block"]:
        raise Blocked("the privacy check failed, so the request is refused")
    reason = "privacy: the check failed, so the request is kept on this device"
    return Screened(_kept(request), reasons=(*reasons, reason))


def _blocked(decision: Decision) -> Blocked:
    found = tuple(decision.found.get("block", ()))
    if not found:
        return Blocked(f"the request holds contents that cannot be examined: {decision.unread}")
    what = f"the request holds personal data that may not be processed: {_named(found)}"
    return Blocked(what, found, found[0].place.partition("[")[0] or None)


def _named(findings: Iterable[Finding]) -> str:
    """`CN_ID in messages[0], PHONE in tools[1]`, each once."""
    names = list(dict.fromkeys(f"{finding.type} in {finding.place}" for finding in findings))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
