"""Asks a local model as a cloud would be asked: in disguise, and with the values put back."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from random import Random

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from benchmarks.pseudonyms.tasks import Task
from hybridge.core.backend import Backend, Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.request import Disguise, Message, Request
from hybridge.core.response import Completion, Event
from hybridge.privacy.guard import Guard
from hybridge.privacy.policy import Policy
from hybridge.privacy.pseudonyms.disguise import Pseudonyms
from hybridge.privacy.pseudonyms.note import Place

FORMS: Mapping[str, str] = {
    "{{EMAIL_1_x7k2}}": "{{{{{}}}}}",
    "[EMAIL_1_x7k2]": "[{}]",
    "<EMAIL_1_x7k2>": "<{}>",
    "EMAIL_1_x7k2": "{}",
}
_SHIPPED = re.compile(r"\{\{([A-Z_]+_\d+_[a-z]\d[a-z]\d)\}\}")
_MOST_TOKENS = 56
_WITHIN_S = 120.0


class Survival(Struct, frozen=True):
    """Of one answer."""

    wanted: int
    """Values that belong into it."""
    restored: int
    """Of them, those that the caller finds in it."""
    literal: int
    """Of them, those whose placeholder was copied letter by letter; without a disguise the same."""
    answer: str


async def ask(backend: Backend, task: Task, form: str | None, note: Place) -> Survival:
    """`form` None sends the values themselves: what the model loses without any disguise."""
    request = _request(task)
    if form is None:
        said = await _said(backend, request)
        kept = sum(value in said for value in task.values)
        return Survival(len(task.values), kept, kept, said)
    pseudonyms = Pseudonyms(Random(7), note=note)
    screened = await Guard(Policy("pseudonymise"), pseudonymise=pseudonyms).screen(request)
    disguise = screened.request.disguise
    if disguise is None:
        raise RuntimeError(f"no disguise for {task.name}: {screened.reasons}")
    heard: list[str] = []
    said = await _said(backend, _in_form(disguise.request, form), disguise, heard)
    codes = _codes(task, request, disguise, form)
    return Survival(
        len(task.values),
        sum(value in said for value in task.values),
        sum(code in heard[0] for code in codes),
        heard[0],
    )


def _request(task: Task) -> Request:
    turns = [{"role": "user", "content": task.prompt}]
    more = {"temperature": 0, "max_tokens": _MOST_TOKENS}
    return Request(
        id="benchmark",
        model="auto",
        messages=(Message("user", task.prompt),),
        body={"model": "auto", "messages": turns, **more, **task.members},
        max_tokens=_MOST_TOKENS,
    )


async def _said(
    backend: Backend,
    request: Request,
    disguise: Disguise | None = None,
    heard: list[str] | None = None,
) -> str:
    """All that the answer says, tool calls too. `heard`: takes it as the model said it."""

    async def answer() -> AsyncGenerator[Event, None]:
        deadline = Deadline.after(_WITHIN_S, SystemClock())
        async for event in backend.answer(Call(request, deadline)):
            if heard is not None:
                heard.append(_words(event))
            yield event

    events = answer() if disguise is None else disguise.restored(answer())
    return "".join([_words(event) async for event in events])


def _words(event: Event) -> str:
    if not isinstance(event, Completion):
        return ""
    message = msgspec.json.decode(event.wire)["choices"][0]["message"]
    calls = [call["function"]["arguments"] for call in message.get("tool_calls") or ()]
    return "\n".join([message.get("content") or "", *calls])


def _in_form(request: Request, form: str) -> Request:
    body = msgspec.json.encode(request.body).decode()
    body = _SHIPPED.sub(lambda code: FORMS[form].format(code[1]), body)
    return replace(request, body=msgspec.json.decode(body))


def _codes(task: Task, request: Request, disguise: Disguise, form: str) -> list[str]:
    """The placeholders of the values, in the order of their numbers in the prompt."""
    sent = " ".join(str(turn["content"]) for turn in disguise.request.body["messages"][-1:])
    codes = dict.fromkeys(_SHIPPED.findall(sent))
    by_place = sorted(task.values, key=request.last_user_text.index)
    first = len(codes) - len(by_place)
    return [FORMS[form].format(code) for code in [*codes][max(0, first) :]]
