"""What the engine says of its own time."""

from __future__ import annotations

import json

import pytest
from tests.unit.edge.local_model import Opened, call, whole

from hybridge.edge.timings import report

LAST = {
    "choices": [],
    "timings": {"prompt_n": 33, "prompt_ms": 1500.0, "predicted_n": 6, "predicted_ms": 300.0},
}


def told(said: object) -> list[tuple[str, int, float]]:
    found: list[tuple[str, int, float]] = []
    report(json.dumps(said, separators=(",", ":")), lambda *one: found.append(one))
    return found


def test_both_phases_of_an_answer() -> None:
    assert told(LAST) == [("prefill", 33, 1.5), ("decode", 6, 0.3)]


@pytest.mark.parametrize(
    "said",
    [
        {"choices": [{"delta": {"content": "hello"}}]},
        {"choices": [{"delta": {"content": '"timings":{"prompt_n":1,"prompt_ms":1}'}}]},
        {"timings": {}},
        {"timings": {"prompt_n": "many"}},
    ],
)
def test_other_pieces_tell_nothing(said: object) -> None:
    assert told(said) == []


@pytest.mark.anyio
@pytest.mark.model
async def test_a_real_answer_tells_how_long_it_took(opened: Opened) -> None:
    found: list[tuple[str, int, float]] = []
    async with opened() as backend:
        backend.tell(lambda *one: found.append(one))
        await whole(backend, call("Say hello.", max_tokens=4))
        assert backend.waiting == 0
    (prefill, read, read_s), (decode, written, written_s) = found
    assert (prefill, decode) == ("prefill", "decode")
    assert read > 4 >= written > 0
    assert min(read_s, written_s) > 0
