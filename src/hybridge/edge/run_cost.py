"""How long a run of the encoder will take: a line through what was measured, and its drift."""

from __future__ import annotations

from collections.abc import Callable, Sequence

FOLLOWING = 0.1
"""How much one run counts for when it is said how fast this machine is at present."""
_PACE_MAX = 20.0
"""A run that was held up for long, by a debugger say, is no measure of the next."""
_TINY_S = 1e-6


class Cost:
    """Seconds of a run: what it takes to start one, and a time for each token, padding included."""

    def __init__(self, start_s: float, token_s: float) -> None:
        self._start_s = max(start_s, _TINY_S)
        self._token_s = max(token_s, _TINY_S / 100)
        self._pace = 1.0

    @classmethod
    def measured(cls, run: Callable[[int], float], few: int, many: int, times: int = 3) -> Cost:
        """From the fastest of several runs at two lengths; `run` takes tokens and gives seconds."""
        short_s, long_s = (min(run(n) for _ in range(times)) for n in (few, many))
        token_s = max(0.0, long_s - short_s) / (many - few)
        return cls(short_s - few * token_s, token_s)

    def of(self, tokens: int, runs: int = 1) -> float:
        """Seconds that `tokens` in so many runs take, one run after the other."""
        return self._pace * (runs * self._start_s + tokens * self._token_s)

    def learn(self, tokens: int, took_s: float) -> None:
        """One run is over, or was stopped after so long."""
        ratio = took_s / (self._start_s + tokens * self._token_s)
        self._pace += FOLLOWING * (min(ratio, _PACE_MAX) - self._pace)


def together(
    texts: Sequence[tuple[int, float]], cost: Cost, now_s: float, *, most: int, longest_s: float
) -> list[int]:
    """Which of the waiting texts make up the next run; their places, the most urgent one first.

    `texts`: tokens of each, and when it is needed. The most urgent one that can still be in time
    is taken, and others along with it as long as their padding costs less than runs of their own,
    the run stays under `longest_s` seconds, and everyone in it is in time. Texts that will be late
    anyway come when nothing else is there. `most`: texts in a run.
    """
    order = sorted(range(len(texts)), key=lambda place: texts[place][1])
    timely = [place for place in order if now_s + cost.of(texts[place][0]) <= texts[place][1]]
    first, *others = timely or order
    taken, (longest, needed_s) = [first], texts[first]
    for place in sorted(others, key=lambda place: abs(texts[place][0] - texts[first][0])):
        if len(taken) == most:
            break
        tokens, own_s = texts[place]
        widest, soonest_s = max(longest, tokens), min(needed_s, own_s)
        whole_s = cost.of(widest * (len(taken) + 1))
        pays = whole_s <= cost.of(longest * len(taken)) + cost.of(tokens)
        if pays and whole_s <= min(longest_s, soonest_s - now_s):
            taken.append(place)
            longest, needed_s = widest, soonest_s
    return taken
