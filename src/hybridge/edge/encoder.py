"""The scorer's sentence encoder: ONNX Runtime in threads of its own, under deadlines (R2, R56).

Texts that come while a run is under way are taken together in the next one; a lone text waits for
nobody.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import onnxruntime as ort
from msgspec import Struct
from tokenizers import Tokenizer

from hybridge.edge.line import Answer, Line, Run, Wanted
from hybridge.edge.run_cost import Cost
from hybridge.edge.sessions import CPU, TITLES, Hardware, Opened, open_best
from hybridge.edge.text_graph import MAX_TOKENS, TextGraph, Vector

MEANING = Path(__file__).parent / "assets"
"""all-MiniLM-L6-v2, which tells how alike two English texts are."""
SCORER = MEANING / "scorer"
"""The scorer's own encoder, English and Chinese, in the same space and a quarter of the time."""
BATCH = 32
"""Texts in a run at most, where their vectors do not depend on each other."""
_WARM = "warm " * MAX_TOKENS
_FEW = 8

_log = logging.getLogger("hybridge.encoder")


class Ran(Struct, frozen=True):
    """One run is over."""

    texts: int
    """How many were computed together; 0 where nobody waited to the end."""
    tokens: int
    """Padding included."""
    seconds: float


Told = Callable[[Ran], None]
Outcome = tuple[Answer, Vector | Exception | None]


class Encoder:
    """Turns texts into vectors of unit length.

    Each text has a deadline of its own; late work is stopped, and never piles up.
    """

    def __init__(
        self,
        graph: TextGraph,
        cost: Cost,
        *,
        runs: int = 1,
        batch: int = 1,
        provider: str = CPU,
        passed_over: Sequence[str] = (),
        load_s: float = 0.0,
    ) -> None:
        """`runs`: at the same time, each in a thread; `batch`: texts in a run, at most."""
        self._graph = graph
        self._line = Line(cost, graph.read, runs=runs, most=batch)
        self._threads = ThreadPoolExecutor(runs, thread_name_prefix="encoder")
        self._closed = False
        self.provider = provider
        """The execution provider that computes."""
        self.passed_over = passed_over
        """Why those that are preferred to it do not, in words."""
        self.batch = batch
        """Texts in a run, at most."""
        self.load_s = load_s
        """How long loading took, warm-up included."""
        self.told: Told = _nothing
        """Hears of every run, on the event loop of those who waited for it."""
        self.refused: Callable[[str], None] = _nothing
        """Hears why a text got no vector: `queue`, it would have come too late, or `late`."""

    @classmethod
    def load(
        cls,
        model: Path,
        tokenizer: Path,
        *,
        threads: int,
        runs: int = 1,
        hardware: Hardware = Hardware(),  # noqa: B008 - frozen
    ) -> Self:
        """Loads and warms up; blocking, about half a second. Raises what the two libraries do."""
        started_s = time.perf_counter()

        def warm(session: ort.InferenceSession) -> tuple[TextGraph, Cost]:
            graph = TextGraph(session, Tokenizer.from_file(str(tokenizer)))
            return graph, warmed_up(graph)

        opened = faster(open_best(model, hardware, threads, warm), hardware, model, threads, warm)
        graph, cost = opened.made
        batch = BATCH if graph.is_steady() else 1
        encoder = cls(
            graph,
            cost,
            runs=runs if opened.provider == CPU else 1,
            batch=batch,
            provider=opened.provider,
            passed_over=opened.passed_over,
            load_s=time.perf_counter() - started_s,
        )
        _tell(model, encoder, hardware)
        return encoder

    @classmethod
    def shipped(
        cls,
        *,
        threads: int,
        runs: int = 1,
        hardware: Hardware = Hardware(),  # noqa: B008 - frozen
        folder: Path = SCORER,
    ) -> Self:
        """One of those in this package: `SCORER` or `MEANING`."""
        model, words = folder / "encoder.onnx", folder / "tokenizer.json"
        return cls.load(model, words, threads=threads, runs=runs, hardware=hardware)

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return len(self.encode("warm"))

    @property
    def waiting(self) -> int:
        """Texts in the queue; those under way are not in it."""
        return len(self._line)

    async def embed(self, text: str, timeout_s: float) -> Vector | None:
        """The vector, shape `(dimensions,)`; None when it would come later than `timeout_s`
        seconds: at once, where those before it take so long."""
        answer: Answer = asyncio.get_running_loop().create_future()
        wanted = Wanted(text, time.perf_counter() + timeout_s, answer)
        if self._closed:
            return None
        begin = self._line.join(wanted)
        if begin is None:
            self.refused("queue")
            return None
        if begin:
            self._threads.submit(self._work)
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            self.refused("late")
            return None
        except asyncio.CancelledError:
            if time.perf_counter() >= wanted.needed_s:  # who waited kept the same deadline
                self.refused("late")
            raise
        finally:
            self._line.leave(wanted)

    def encode(self, text: str, options: ort.RunOptions | None = None) -> Vector:
        """The same, blocking, and alone in its run."""
        return self._graph.run([self._graph.read(text)], options)[0]

    def close(self) -> None:
        """Stops what is under way and waits for it; who still waits gets None. From its loop, or
        once that has ended."""
        self._closed = True
        _settle([(wanted.answer, None) for wanted in self._line.clear()])
        self._threads.shutdown(wait=True)

    def _work(self) -> None:
        """In a thread, until nobody waits."""
        while (run := self._line.take()) is not None:
            started_s = time.perf_counter()
            outcomes = self._computed(run)
            took_s = time.perf_counter() - started_s
            finished = outcomes is not None
            self._line.end(run, took_s, finished=finished)
            texts = len(run.texts) if finished else 0
            self._deliver(run, outcomes or [], Ran(texts, run.tokens, took_s))

    def _computed(self, run: Run) -> Sequence[Vector | Exception | None] | None:
        """A vector for each text, or what went wrong with it; None: nobody waited to the end."""
        try:
            return self._graph.run(run.ids, run.options)
        except Exception as error:  # ONNX Runtime raises classes of its own
            if run.options.terminate:
                return None
            if len(run.texts) == 1:
                return [error]
            return [self._alone(run, ids) for ids in run.ids]

    def _alone(self, run: Run, ids: Sequence[int]) -> Vector | Exception | None:
        """One text of a run that failed: it may not have been the reason."""
        try:
            return self._graph.run([ids], run.options)[0]
        except Exception as error:  # as above
            return None if run.options.terminate else error

    def _deliver(self, run: Run, outcomes: Sequence[Vector | Exception | None], ran: Ran) -> None:
        found = outcomes or [None] * len(run.texts)
        pairs = [(text.answer, one) for text, one in zip(run.texts, found, strict=True)]
        for number, loop in enumerate({answer.get_loop() for answer, _ in pairs}):
            own = [pair for pair in pairs if pair[0].get_loop() is loop]
            told = self.told if number == 0 else _nothing
            try:
                loop.call_soon_threadsafe(_settle_and_tell, own, told, ran)
            except RuntimeError:  # the loop is closed, and with it everyone who waited
                continue


def warmed_up(graph: TextGraph) -> Cost:
    """Runs of several lengths, alone and together, and what they cost."""
    ids = graph.read(_WARM)

    def run(tokens: int) -> float:
        started_s = time.perf_counter()
        graph.run([ids[:tokens]])
        return time.perf_counter() - started_s

    graph.run([ids, ids[:_FEW]])
    return Cost.measured(run, min(_FEW, len(ids) - 1), len(ids))


def faster(
    opened: Opened[tuple[TextGraph, Cost]],
    hardware: Hardware,
    model: Path,
    threads: int,
    warm: Callable[[ort.InferenceSession], tuple[TextGraph, Cost]],
) -> Opened[tuple[TextGraph, Cost]]:
    """The CPU instead of a GPU that nobody has asked for and that is slower: INT8 graphs are made
    for CPUs, and a GPU computes some of them in pieces."""
    if opened.provider == CPU or hardware.provider != "auto":
        return opened
    plain = open_best(model, Hardware("cpu"), threads, warm)
    gpu_s, cpu_s = opened.made[1].of(MAX_TOKENS), plain.made[1].of(MAX_TOKENS)
    if gpu_s <= cpu_s:
        return opened
    slow = f"{TITLES[opened.provider]}: {1e3 * gpu_s:.1f} ms, where the CPU takes {1e3 * cpu_s:.1f}"
    return Opened(plain.made, CPU, (*opened.passed_over, slow))


def _settle(outcomes: Iterable[Outcome]) -> None:
    for answer, outcome in outcomes:
        if answer.done() or answer.get_loop().is_closed():
            continue
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)


def _settle_and_tell(outcomes: Sequence[Outcome], told: Told, ran: Ran) -> None:
    _settle(outcomes)
    told(ran)


def _nothing(_: object) -> None:
    """Nobody listens."""


def _tell(model: Path, encoder: Encoder, hardware: Hardware) -> None:
    """In the log: what computes, and why not what would be better."""
    asked_for_more = hardware.provider not in ("auto", "cpu") and encoder.provider == CPU
    level = logging.WARNING if asked_for_more else logging.INFO
    why = "; ".join(encoder.passed_over) or "nothing better was asked for"
    together = "together" if encoder.batch > 1 else "one by one (its vectors depend on each other)"
    _log.log(
        level,
        "%s computes on %s, texts %s, loaded in %.2f s (%s)",
        model.name,
        TITLES[encoder.provider],
        together,
        encoder.load_s,
        why,
    )
