"""A backend that says what it was told to say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from itertools import chain, repeat
from math import log
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.assembly import as_chunks
from hybridge.core.backend import BackendSpec, Call
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Feature, Tier
from hybridge.core.response import Completion, Event
from hybridge.core.wire import completion


class Pause(Struct, frozen=True):
    """A step of a script: wait before the next one."""

    seconds: float


class Hang(Struct, frozen=True):
    """A step of a script: say nothing more until the deadline, or until closed."""


Step = Event | BackendError | Pause | Hang
Script = Sequence[Step]
"""What happens in one call, in order. An error ends it."""


def whole(
    text: str,
    *,
    model: str = "scripted",
    logprob: float | None = None,
    finish_reason: str = "stop",
    prompt_tokens: int = 5,
) -> Completion:
    """A `chat.completion` of one choice; with `logprob`, each word is a token of that value."""
    words = [word if i == 0 else f" {word}" for i, word in enumerate(text.split(" "))]
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish_reason,
    }
    if logprob is not None:
        tokens = [{"token": word, "logprob": logprob, "top_logprobs": []} for word in words]
        choice["logprobs"] = {"content": tokens}
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": len(words),
        "total_tokens": prompt_tokens + len(words),
    }
    body = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1893456000,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }
    return completion(msgspec.json.encode(body))


def calling(name: str, arguments: str) -> Completion:
    """An answer that only calls one tool; `arguments` is JSON."""
    function = {"name": name, "arguments": arguments}
    body = msgspec.json.decode(whole("", finish_reason="tool_calls").wire)
    body["choices"][0]["message"] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    return completion(msgspec.json.encode(body))


def saying(text: str, *, confidence: float | None = None, stream: bool = False) -> list[Step]:
    """The script of one untroubled answer; `confidence` is the probability of each token."""
    answer = whole(text, logprob=None if confidence is None else log(confidence))
    return list(as_chunks(answer)) if stream else [answer]


class ScriptedBackend:
    """Implements `core.backend.Backend` by playing scripts, one for each call.

    With fewer scripts than calls the last one is played again. A script of one `Completion` also
    answers a request that streams: it is then given as chunks. `calls` are those that were made,
    `closed` counts answers that were closed before their end, `running` those under way.
    """

    def __init__(
        self,
        spec: BackendSpec,
        *scripts: Script,
        probes: Iterable[BackendError | None] = (),
    ) -> None:
        self._spec = spec
        self._scripts = list(scripts) or [saying("Hello from the script.")]
        self._probes = chain(probes, repeat(None))
        self.calls: list[Call] = []
        self.probed = 0
        self.closed = 0
        self.running = 0

    @property
    def spec(self) -> BackendSpec:
        """What it claims to be."""
        return self._spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Plays the next script. Raises `BackendError` as scripted, or TIMEOUT at the deadline."""
        script = self._scripts[min(len(self.calls), len(self._scripts) - 1)]
        self.calls.append(call)
        return self._play(script, call)

    async def probe(self) -> None:
        """Raises the next of `probes`, and nothing once they are used up."""
        self.probed += 1
        if (error := next(self._probes)) is not None:
            raise error

    async def _play(self, script: Script, call: Call) -> AsyncGenerator[Event, None]:
        self.running += 1
        ended = False
        try:
            for step in script:
                if isinstance(step, BackendError):
                    ended = True
                    raise step.anew()
                if isinstance(step, (Pause, Hang)):
                    await self._wait(step, call)
                    continue
                for event in _as_asked(step, call):
                    yield event
            ended = True
        except BackendError:
            ended = True
            raise
        finally:
            self.running -= 1
            self.closed += not ended

    async def _wait(self, step: Pause | Hang, call: Call) -> None:
        wanted_s = step.seconds if isinstance(step, Pause) else float("inf")
        left_s = call.deadline.remaining_s
        await asyncio.sleep(min(wanted_s, left_s))
        if wanted_s >= left_s:
            raise BackendError(
                f"{self._spec.name} was too slow", backend=self._spec.name, fault=Fault.TIMEOUT
            )


def _as_asked(event: Event, call: Call) -> Sequence[Event]:
    if isinstance(event, Completion) and call.request.stream:
        return as_chunks(event)
    return (event,)


def spec(
    name: str,
    tier: Tier = Tier.EDGE,
    *,
    leaves_device: bool | None = None,
    features: frozenset[Feature] = frozenset(),
) -> BackendSpec:
    """A plain spec for a scripted backend; a cloud leaves the device unless told otherwise."""
    away = tier is Tier.CLOUD if leaves_device is None else leaves_device
    return BackendSpec(
        name=name, tier=tier, model=f"{name}-model", leaves_device=away, features=features
    )
