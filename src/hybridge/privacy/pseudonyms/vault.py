"""What stands for what in one request. In memory, and gone with it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hybridge.privacy.examine import Value
from hybridge.privacy.pseudonyms.placeholder import PLACEHOLDER, read, written
from hybridge.privacy.pseudonyms.spellings import canonical, escapes, pattern

SECRET = "SECRET"  # noqa: S105 - the name of a type


class Vault:
    """Hides values behind placeholders, and knows them again."""

    def __init__(self, values: Iterable[Value], suffix: str) -> None:
        self.suffix = suffix
        self._types: dict[str, str] = {}
        self._unescaped: dict[str, str] = {}
        """The value behind an escaped form of it."""
        for value in values:
            self._types.setdefault(canonical(value.text), value.type)
            self._unescaped |= {form.casefold(): value.text for form in escapes(value.text)}
        self._pattern = pattern(value.text for value in values)
        self._placeholders: dict[str, str] = {}
        self._values: dict[int, str] = {}

    def hide(self, text: str) -> str:
        """The text with a placeholder for each value in it, the same for the same value."""
        return self._pattern.sub(lambda match: self._placeholder(match.group()), text)

    def shows(self, text: str) -> bool:
        """Whether a value can be read in it."""
        return self._pattern.search(text) is not None

    def value(self, placeholder: re.Match[str]) -> str | None:
        """What it stands for. None: for nothing of this request, or for a secret, which is never
        given back."""
        number, suffix = read(placeholder)
        return self._values.get(number) if suffix == self.suffix else None

    def is_own(self, found: Value) -> bool:
        """Whether a detector has taken nothing but placeholders of this request for something."""
        if any(found.text in placeholder for placeholder in self._placeholders.values()):
            return True  # or a part of one
        matches = list(PLACEHOLDER.finditer(found.text))
        ours = bool(matches) and all(read(match)[1] == self.suffix for match in matches)
        return ours and not any(map(str.isalnum, PLACEHOLDER.sub("", found.text)))

    @property
    def example(self) -> str:
        """One of its placeholders."""
        return next(iter(self._placeholders.values()), written("EMAIL", 1, self.suffix))

    @property
    def values(self) -> Iterable[str]:
        """Those that are given back."""
        return self._values.values()

    def _placeholder(self, found: str) -> str:
        value = self._unescaped.get(found.casefold(), found)
        known = self._placeholders.get(value)
        if known is not None:
            return known
        kind, number = self._types.get(canonical(value), "DATA"), len(self._placeholders) + 1
        if kind != SECRET:
            self._values[number] = value
        self._placeholders[value] = written(kind, number, self.suffix)
        return self._placeholders[value]
