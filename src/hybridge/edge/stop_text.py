"""Text up to a stop string: nothing of the string is ever told."""

from __future__ import annotations

from collections.abc import Sequence


class StopText:
    """One answer, piece by piece."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops
        self._held = ""
        self.stopped = False
        """Whether a stop string came; what follows it is dropped."""

    def feed(self, text: str) -> str:
        """What may be told by now."""
        if not self._stops or self.stopped:
            return "" if self.stopped else text
        self._held += text
        places = [place for stop in self._stops if (place := self._held.find(stop)) >= 0]
        end = min(places, default=len(self._held) - self._begun())
        self.stopped = bool(places)
        told, self._held = self._held[:end], "" if places else self._held[end:]
        return told

    def close(self) -> str:
        """What was held back until the answer's end."""
        left, self._held = self._held, ""
        return left

    def _begun(self) -> int:
        """How many characters at the end may be the beginning of a stop string."""
        longest = max(map(len, self._stops)) - 1
        return next(
            (
                length
                for length in range(min(longest, len(self._held)), 0, -1)
                if any(stop.startswith(self._held[-length:]) for stop in self._stops)
            ),
            0,
        )
