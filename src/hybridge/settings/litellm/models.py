"""`model_list`: every deployment becomes a backend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from msgspec import Struct

from hybridge.cloud.transport import is_loopback
from hybridge.core.errors import ConfigError
from hybridge.core.request import AUTO
from hybridge.settings.litellm.providers import COUNTERPARTS, Counterpart, split
from hybridge.settings.litellm.source import Source, variable

_MILLION = Decimal(1_000_000)
_CHAT = (None, "chat", "completion", "responses")
"""Modes of models that answer questions."""


class Backend(Struct, frozen=True):
    """A row of ours."""

    tier: Literal["edge", "cloud"]
    group: str
    """What LiteLLM's callers ask for."""
    row: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.row["name"])


def models(source: Source) -> list[Backend]:
    """All deployments that have a counterpart; the others are noted."""
    found: list[Backend] = []
    entries = source.look("model_list")
    for index in range(len(entries) if isinstance(entries, list) else 0):
        taken = {backend.name for backend in found}
        made = _Deployment(source, index).backend(taken)
        found += [] if made is None else [made]
    return found


class _Deployment:
    """One entry of the list."""

    def __init__(self, source: Source, index: int) -> None:
        self._source = source
        self._at = ("model_list", index)

    def backend(self, taken: set[str]) -> Backend | None:
        """None, with a note, where it cannot be one."""
        group, model = self._take("model_name"), self._param("model")
        why = self._unfit(group, model)
        parts = None if why else split(model, addressed=self._look("api_base") is not None)
        if parts is None:
            why = why or f"`{model}`: its provider does not speak an API that is spoken here"
            self._source.note(self._at, f"not taken over; {why}")
            return None
        if self._look("custom_llm_provider") in COUNTERPARTS:
            parts = self._param("custom_llm_provider"), model
        theirs = COUNTERPARTS[parts[0]]
        url = self._url(theirs)
        local = url is not None and is_loopback(url)
        row: dict[str, Any] = {"name": self._name(group, taken)}
        row |= {"engine": "openai"} if local else {"provider": theirs.provider}
        row |= {"model": parts[1]} | ({"base_url": url} if url else {})
        row |= dict(self._key(theirs, row["name"], local=local))
        row |= dict(self._tokens(limited=local or theirs.provider == "anthropic"))
        row |= {} if local else dict(self._price()) | dict(self._timeouts())
        return Backend("edge" if local else "cloud", group, row)

    def _unfit(self, group: Any, model: Any) -> str | None:
        mode = self._source.take(*self._at, "model_info", "mode")
        if not isinstance(group, str) or not isinstance(model, str):
            return "model_name and litellm_params.model are needed"
        if "*" in group or "*" in model:
            return "every model needs a name of its own here"
        return None if mode in _CHAT else f"mode `{mode}` answers no questions"

    def _name(self, group: str, taken: set[str]) -> str:
        """Unique, and not the name that leaves the choice to the router."""
        wanted = f"{group}-model" if group == AUTO else group
        if wanted != group:
            self._source.note((*self._at, "model_name"), f"is called `{wanted}` here")
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}-{number}"
        if name != wanted:
            what = f"is called `{name}` here, a fallback of `{wanted}`: load is not spread"
            self._source.note((*self._at, "model_name"), what)
        return name

    def _url(self, theirs: Counterpart) -> str | None:
        given = self._param("api_base") or self._param("base_url")
        if given is None:
            given = theirs.local_url
        elif (name := variable(given)) is not None:
            given = f"${{{name}}}"
        if given is None:
            return theirs.base_url
        url = str(given).rstrip("/")
        return url if url.endswith(theirs.path) else url + theirs.path

    def _key(self, theirs: Counterpart, name: str, *, local: bool) -> Iterator[tuple[str, str]]:
        """The variable that holds the key, never the key itself."""
        given = self._param("api_key")
        if given is None:
            if theirs.key_env is not None:
                yield "api_key_env", theirs.key_env
        elif (named := variable(given)) is not None:
            yield "api_key_env", named
        elif local:
            self._source.note(
                (*self._at, "litellm_params", "api_key"),
                "left out; if the local server wants a key, name its variable in `api_key_env`",
            )
        else:
            named = re.sub(r"\W+", "_", name).upper().strip("_") + "_API_KEY"
            yield "api_key_env", named
            self._source.note(
                (*self._at, "litellm_params", "api_key"),
                f"keys are not kept in files: put it in the environment as {named}",
            )

    def _tokens(self, *, limited: bool) -> Iterator[tuple[str, int]]:
        if limited and isinstance(most := self._param("max_tokens"), int):
            yield "max_tokens", most

    def _price(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Both halves of a price, or none: a half is not a price."""
        keys = {
            "input_usd": "input_cost_per_token",
            "output_usd": "output_cost_per_token",
            "cached_usd": "cache_read_input_token_cost",
        }
        found = {ours: _per_million(self._cost(theirs)) for ours, theirs in keys.items()}
        known = {name: usd for name, usd in found.items() if usd is not None}
        if {"input_usd", "output_usd"} <= known.keys():
            yield "price", known
        elif known:
            self._source.note(self._at, "its price is half a price and left out; set `price`")

    def _cost(self, key: str) -> Any:
        own, info = self._param(key), self._source.take(*self._at, "model_info", key)
        return info if own is None else own

    def _timeouts(self) -> Iterator[tuple[str, dict[str, float]]]:
        keys = {"first_byte_s": "stream_timeout", "total_s": "timeout"}
        given = {ours: self._param(theirs) for ours, theirs in keys.items()}
        known = {ours: s for ours, s in given.items() if isinstance(s, int | float) and s > 0}
        seconds: dict[str, float] = dict(known)
        if seconds:
            yield "timeouts", seconds

    def _take(self, key: str) -> Any:
        return self._source.take(*self._at, key)

    def _look(self, key: str) -> Any:
        return self._source.look(*self._at, "litellm_params", key)

    def _param(self, key: str) -> Any:
        return self._source.take(*self._at, "litellm_params", key)


def _per_million(cost: Any) -> float | None:
    """USD per million tokens of a price per token."""
    try:
        return None if cost is None else float(Decimal(str(cost)) * _MILLION)
    except InvalidOperation as error:
        raise ConfigError(f"a cost per token is no number: {cost!r}") from error
