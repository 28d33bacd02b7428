"""`${NAME}` in a value: the environment's word in the middle of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Self

from hybridge.settings.problems import Loc

_REFERENCE = re.compile(r"\$(\$?)\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Filled(str):
    """A text that came out of the environment: it may be secret, so it is never shown."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Variables:
    """Puts the environment's values where the file names them, and notes what is missing."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.missing: list[tuple[Loc, str]] = []
        """Key of the configuration, and what is wrong."""
        self.written: dict[Loc, str] = {}
        """What the file says at each key that was filled."""

    def fill(self, data: Any, loc: Loc = ()) -> Any:
        """The same data with each `${NAME}` replaced. `$${NAME}` stands for itself."""
        if isinstance(data, Mapping):
            return {key: self.fill(value, (*loc, key)) for key, value in data.items()}
        if isinstance(data, list):
            return [self.fill(value, (*loc, index)) for index, value in enumerate(data)]
        return self._text(data, loc) if isinstance(data, str) and "${" in data else data

    def _text(self, text: str, loc: Loc) -> str:
        found = list(_REFERENCE.finditer(text))
        if all(reference[1] for reference in found):
            return _REFERENCE.sub(r"${\2}", text)
        self.missing += [(loc, what) for what in self._problems(text)]
        self.written[loc] = text
        return Filled(_REFERENCE.sub(self._value, text))

    def _problems(self, text: str) -> Iterator[str]:
        for escaped, name in _REFERENCE.findall(text):
            if escaped:
                continue
            if not _NAME.fullmatch(name):
                yield f"`${{{name}}}` names no environment variable; `$${{` stands for itself"
            elif not self._environ.get(name):
                yield f"environment variable {name} is not set"

    def _value(self, reference: re.Match[str]) -> str:
        escaped, name = reference.groups()
        return f"${{{name}}}" if escaped else self._environ.get(name, "")
