"""The responses endpoints behind a real listener, and what their events must look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hybridge.core.clock import SystemClock
from hybridge.server.answering import Answering
from hybridge.server.intake import Intake
from hybridge.server.routes import Place, Routes
from hybridge.server.shapes.responses import Responses, ResponsesStore, ResponseState


@pytest.fixture
def opened_with(opened):
    """`opened` with a clock or a store of one's own; the store lies in `door.store`."""

    @asynccontextmanager
    async def open_door(*steps, clock=None, store=None, **config):
        clock = clock or SystemClock()
        async with opened(*steps, **config) as door:
            app = door.app
            door.store = ResponsesStore(clock) if store is None else store
            state = ResponseState(door.store, app._terms)
            intake = Intake(app._terms, SystemClock())
            answering = Answering(door.gateway, intake, app.drain)
            shape = Responses(door.store, clock)
            app.routes = Routes(
                {
                    **app.routes.places,
                    "/v1/responses": Place({"POST": answering.endpoint(shape)}, shape.failure),
                    "/v1/responses/{id}/input_items": Place(
                        {"GET": state.input_items}, shape.failure
                    ),
                    "/v1/responses/{id}": Place(
                        {"GET": state.one, "DELETE": state.delete}, shape.failure
                    ),
                }
            )
            yield door

    return open_door


@pytest.fixture
def events() -> Callable[[bytes], list[dict[str, Any]]]:
    """The events of a stream; fails for what is not well-formed."""
    return read_events


def read_events(body: bytes) -> list[dict[str, Any]]:
    *blocks, rest = body.decode().split("\n\n")
    assert rest == ""
    told = []
    for number, block in enumerate(blocks):
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == number
        told.append(event)
    return told
