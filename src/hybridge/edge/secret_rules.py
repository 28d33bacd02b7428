"""Finds credentials of some 460 kinds through betterleaks, a scanner in Go that runs in-process.

It reads nothing but the text it is given and opens no connection (tried without a network); it
starts about six threads and no process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Self

from hybridge.edge.readable_text import without_surrogates
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import BOUNDARY

_LINES = str.maketrans({BOUNDARY: "\n", "\0": " "})
"""Strings that do not belong together become lines of their own. A zero byte would end the text,
for the library takes a string of C."""


class SecretRules:
    """Credentials, each of them `Level.HIGH`."""

    def __init__(self, scan: Callable[[str], Sequence[Any]]) -> None:
        self._scan = scan

    @classmethod
    def load(cls) -> Self:
        """Loads and warms up; blocking, some 250 ms. Raises `ImportError` without the extra."""
        import betterleaks

        rules = cls(betterleaks.scan_string)
        list(rules("api_key = none", ()))
        return rules

    def __call__(self, text: str, _found: Sequence[Finding]) -> Iterator[Finding]:
        """In the scanner's order. May be called from several threads at once."""
        clean = without_surrogates(text).translate(_LINES)
        secrets = self._scan(clean)
        if not secrets:
            return
        starts = [0, *accumulate(len(line) + 1 for line in clean.split("\n"))]  # of lines
        for secret in secrets:
            yield Finding("SECRET", *_span(clean, starts, secret), Level.HIGH)


def _span(text: str, starts: Sequence[int], secret: Any) -> tuple[int, int]:
    """Of the value; of its whole lines where that does not stand in the text as it is."""
    where, value = secret.location, secret.match.value
    first = starts[where.start_line - 1]
    line = text[first : starts[where.start_line] - 1].encode()
    at = first + len(line[: where.start_column - 1].decode(errors="ignore"))
    if value and not text.startswith(value, at):
        at = text.find(value, first)
    if value and at >= 0:
        return at, at + len(value)
    return first, max(first + 1, min(starts[where.end_line] - 1, len(text)))
