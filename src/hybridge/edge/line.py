"""Texts that wait for the encoder, between the event loop and the threads that compute."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import onnxruntime as ort

from hybridge.edge.run_cost import Cost, together
from hybridge.edge.text_graph import MAX_TOKENS, Vector

READ_AT_ONCE = 8
"""Waiting texts that are tokenised before the next run begins: a fraction of what a run takes."""
LONGEST_RUN_S = 0.008
"""A run of several texts takes no longer than so: who comes next does not wait for it."""

BYTES_PER_TOKEN = 3
_MAX_CHARS = MAX_TOKENS * BYTES_PER_TOKEN
Answer = asyncio.Future[Vector | None]

_log = logging.getLogger("hybridge.encoder")


@dataclass(slots=True, eq=False)
class Wanted:
    """One text, and who waits for its vector."""

    text: str
    needed_s: float
    """When it is needed, on `time.perf_counter`'s clock."""
    answer: Answer
    ids: list[int] | None = None
    """Its tokens, once a thread has read it."""
    run: Run | None = None
    """Which run it is in."""
    gone: bool = False
    """Nobody waits for it any more."""

    @property
    def tokens(self) -> int:
        """Counted, or estimated."""
        if self.ids is not None:
            return len(self.ids)
        return estimated(self.text)


@dataclass(slots=True, eq=False)
class Run:
    """Texts that are computed together."""

    texts: Sequence[Wanted]
    begun_s: float
    lasts_s: float
    """As estimated."""
    options: ort.RunOptions = field(default_factory=ort.RunOptions)

    @property
    def tokens(self) -> int:
        """Padding included."""
        return len(self.texts) * max(text.tokens for text in self.texts)

    @property
    def ids(self) -> list[list[int]]:
        return [text.ids or [] for text in self.texts]


class Line:
    """Bounded by time: a text that could not be in time, with those before it, is refused at once.

    `join` and `leave` belong to the event loop and never wait for a run; `take` and `end` to the
    threads, `runs` of them at most.
    """

    def __init__(
        self, cost: Cost, read: Callable[[str], list[int]], *, runs: int, most: int
    ) -> None:
        """`read` tokenises; `most`: texts in a run."""
        self.cost = cost
        self._read = read
        self._runs = runs
        self._most = most
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._waiting: list[Wanted] = []
        self._under_way: list[Run] = []
        self._threads = 0

    def __len__(self) -> int:
        """How many wait, those under way not counted."""
        return len(self._waiting)

    def join(self, wanted: Wanted) -> bool | None:
        """None: refused, for it would come too late. True: one more thread has to `take`."""
        with self._lock:
            now_s = time.perf_counter()
            if self._busy and now_s + self._takes_s(wanted, now_s) > wanted.needed_s:
                return None
            self._waiting.append(wanted)
            if self._threads == self._runs:
                return False
            self._threads += 1
            return True

    def leave(self, wanted: Wanted) -> None:
        """Nobody waits for it any more; a run for nobody is stopped."""
        with self._lock:
            wanted.gone = True
            if wanted.run is None:
                if wanted in self._waiting:
                    self._waiting.remove(wanted)
            elif all(text.gone for text in wanted.run.texts):
                wanted.run.options.terminate = True

    def take(self) -> Run | None:
        """The next run, or None: the thread may go."""
        while True:
            self._read_waiting()
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return None
                known = [text for text in self._waiting if text.ids is not None]
                if known:  # else they came, and those that had been read left, in this moment
                    return self._begin(known)

    def end(self, run: Run, took_s: float, *, finished: bool) -> None:
        """It has been computed, or not to its end."""
        with self._lock:
            self._under_way.remove(run)
            if finished or took_s > run.lasts_s:
                self.cost.learn(run.tokens, took_s)

    def clear(self) -> list[Wanted]:
        """Everyone who waits, taken out of the line; runs are stopped."""
        with self._lock:
            for run in self._under_way:
                run.options.terminate = True
            waiting, self._waiting = self._waiting, []
            return waiting

    @property
    def _busy(self) -> bool:
        return bool(self._waiting or self._under_way)

    def _takes_s(self, wanted: Wanted, now_s: float) -> float:
        """Until it is done, if everything before it is done first."""
        before = [text for text in self._waiting if text.needed_s <= wanted.needed_s]
        tokens = sum(text.tokens for text in before)
        starts = len(before) if self._most == 1 else min(1, len(before))
        running_s = sum(max(0.0, run.begun_s + run.lasts_s - now_s) for run in self._under_way)
        free = len(self._under_way) < self._runs and not before
        ahead_s = 0.0 if free else (running_s + self.cost.of(tokens, starts)) / self._runs
        return ahead_s + self.cost.of(wanted.tokens)

    def _read_waiting(self) -> None:
        """Tokenises, outside of the lock that the event loop takes."""
        with self._reading:
            with self._lock:
                unread = [text for text in self._waiting if text.ids is None]
            for text in sorted(unread, key=lambda text: text.needed_s)[:READ_AT_ONCE]:
                try:
                    text.ids = self._read(text.text)
                except BaseException:  # a panic of the tokenizer is one, and one text's own matter
                    _log.exception("a text of %d characters cannot be tokenised", len(text.text))
                    self.leave(text)

    def _begin(self, known: Sequence[Wanted]) -> Run:
        now_s = time.perf_counter()
        places = together(
            [(text.tokens, text.needed_s) for text in known],
            self.cost,
            now_s,
            most=self._most,
            longest_s=LONGEST_RUN_S,
        )
        texts = [known[place] for place in places]
        run = Run(texts, now_s, 0.0)
        run.lasts_s = self.cost.of(run.tokens)
        for text in texts:
            self._waiting.remove(text)
            text.run = run
        self._under_way.append(run)
        return run


def estimated(text: str) -> int:
    """Tokens of a text that has not been read: about 4 bytes each in English, 3 to 6 in Chinese."""
    if len(text) >= _MAX_CHARS:
        return MAX_TOKENS
    return min(MAX_TOKENS, 2 + len(text.encode(errors="replace")) // BYTES_PER_TOKEN)
