"""Makes the disguise of a request, or says that there is none (R31)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from random import Random, SystemRandom

from msgspec.structs import replace

from hybridge.core.request import Feature, Message, Request
from hybridge.core.response import Event
from hybridge.privacy.examine import Value
from hybridge.privacy.guard import Search
from hybridge.privacy.normalise import normalise
from hybridge.privacy.pseudonyms.answer import Restoring, restored
from hybridge.privacy.pseudonyms.body import binds, hidden, leaves
from hybridge.privacy.pseudonyms.note import Place, noted
from hybridge.privacy.pseudonyms.placeholder import draw_suffix
from hybridge.privacy.pseudonyms.spellings import MOST, replaceable
from hybridge.privacy.pseudonyms.tail import Kind, escaped
from hybridge.privacy.pseudonyms.vault import Vault
from hybridge.privacy.view import BOUNDARY

_ROUNDS = 4
"""Once a number is gone, the one that was glued to it may be seen."""


class Pseudonyms:
    """Implements `privacy.guard.Pseudonymise`."""

    def __init__(self, random: Random | None = None, *, note: Place = "system") -> None:
        self._random = random or SystemRandom()
        self._note: Place = note

    def __call__(self, request: Request, search: Search) -> Pseudonymised | None:
        """The request in disguise. None where something of it cannot be hidden so that the answer
        is still the right one: see `replaceable`, and `body` for what must stay as it is."""
        suffix = self._draw(request)
        if suffix is None or binds(request.body):
            return None
        hidden = _hidden(request, search, suffix)
        if hidden is None:
            return None
        disguised, vault = hidden
        body = noted(disguised.body, vault.example, self._note)
        return Pseudonymised(replace(disguised, body=body), vault)

    def _draw(self, request: Request) -> str | None:
        told = BOUNDARY.join(_all(request)).casefold()
        return draw_suffix(self._random, lambda suffix: suffix in told)


class Pseudonymised:
    """Implements `core.request.Disguise`."""

    def __init__(self, request: Request, vault: Vault) -> None:
        self.request = request
        self._vault = vault

    def restored(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """See `Disguise`. Secrets are not given back."""
        return restored(events, Restoring(self._vault, self._content))

    @property
    def _content(self) -> Kind:
        if all(escaped(value) == value for value in self._vault.values):
            return "text"  # it makes no difference, and following the text takes time
        as_json = self.request.features & {Feature.JSON, Feature.JSON_SCHEMA}
        return "json" if as_json else "mixed"


def _hidden(request: Request, search: Search, suffix: str) -> tuple[Request, Vault] | None:
    """The request without what the search finds in it, nor what it then finds beside the
    placeholders. None where that does not come to an end."""
    values, found = list[Value](), search(request)
    for _ in range(_ROUNDS):
        values += found
        too_many = len({value.text for value in values}) > MOST
        if not values or too_many or not all(map(replaceable, values)):
            return None
        vault = Vault(values, suffix)
        disguised = _disguised(request, vault)
        if _shows(disguised, vault):
            return None
        found = [value for value in search(disguised) if not vault.is_own(value)]
        if not found:
            return disguised, vault
    return None


def _disguised(request: Request, vault: Vault) -> Request:
    messages = tuple(_said(message, vault) for message in request.messages)
    return replace(request, body=hidden(request.body, vault.hide), messages=messages, disguise=None)


def _said(message: Message, vault: Vault) -> Message:
    return replace(message, text=vault.hide(message.text))


def _all(request: Request) -> list[str]:
    return [*leaves(request.body), *(message.text for message in request.messages)]


def _shows(request: Request, vault: Vault) -> bool:
    """Whether a value is left anywhere, in whatever letters."""
    told = BOUNDARY.join(_all(request))
    return vault.shows(told) or vault.shows(normalise(told).text)
