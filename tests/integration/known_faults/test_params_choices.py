"""Several choices and token probabilities: given as asked for, or refused by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest
from tests.integration.known_faults.common import BACKENDS, BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import CHAT, RESPONSES, TEXTS, asking, events_of
from tests.integration.running import Pair, running

from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Received, Step, answers, says, streams
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
CONFIG = {"execution": PATIENT}
"""The edge is a local server that names no features: probabilities it can, choices it cannot."""
HEAD = {"id": "x", "created": 1, "model": "m"}
LOGPROBS = "message.output_text.logprobs"
ASKED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "n": (CHAT, {"n": 3}),
    "n of texts": (TEXTS, {"n": 3}),
    "logprobs": (CHAT, {"logprobs": True, "top_logprobs": 2}),
    "logprobs of texts": (TEXTS, {"logprobs": 2}),
    "logprobs of responses": (RESPONSES, {"include": [LOGPROBS], "top_logprobs": 2}),
}
EVERY_WISH = pytest.mark.parametrize("wish", ASKED)


def able(received: Received) -> Iterator[Step]:
    """A server that does what it is asked for."""
    asked = received.json
    shown = {"token": "Hi", "logprob": -0.1, "bytes": None}
    others = [{"token": t, "logprob": -p, "bytes": None} for t, p in (("Hi", 0.1), ("Ho", 3.0))]
    logprobs = {"content": [shown | {"top_logprobs": others[: asked.get("top_logprobs", 0)]}]}
    more = {"logprobs": logprobs} if asked.get("logprobs") else {}
    places = range(asked.get("n", 1))
    if not asked.get("stream"):
        message = {"role": "assistant", "content": "Hi"}
        end = {"message": message, "finish_reason": "stop"}
        choices = [{"index": place, **end, **more} for place in places]
        yield from answers(HEAD | {"object": "chat.completion", "choices": choices})(received)
        return
    said = [(p, {"role": "assistant", "content": "Hi"}, None, more) for p in places]
    ends = [(p, dict[str, str](), "stop", dict[str, Any]()) for p in places]
    kind = HEAD | {"object": "chat.completion.chunk"}
    told = [
        kind | {"choices": [{"index": p, "delta": delta, "finish_reason": end} | shown_]}
        for p, delta, end, shown_ in (*said, *ends)
    ]
    yield from streams(*told)(received)


def honoured(wish: str, got: Got, stream: bool) -> bool:
    """Whether everything that was asked for is in the answer."""
    path, _ = ASKED[wish]
    if path == RESPONSES:
        whole = events_of(got.body)[-1]["response"] if stream else got.json
        shown = whole["output"][0]["content"][0]["logprobs"]
        return bool(shown) and len(shown[0]["top_logprobs"]) == 2
    events = [e for e in events_of(got.body) if e != "[DONE]"] if stream else [got.json]
    choices = [choice for event in events for choice in event.get("choices", ())]
    if wish.startswith("n"):
        ended = [choice["index"] for choice in choices if choice["finish_reason"] == "stop"]
        return sorted(ended) == [0, 1, 2]
    told = [choice["logprobs"] for choice in choices if choice.get("logprobs")]
    if path == TEXTS:
        return bool(told) and len(told[0]["top_logprobs"][0]) == 2
    return bool(told) and len(told[0]["content"][0]["top_logprobs"]) == 2


async def asked(gateway: Any, wish: str, model: str, stream: bool, text: str = "Hello!") -> Got:
    path, members = ASKED[wish]
    body = asking(path, text, model=model, stream=stream, **members)
    return await ask(port_of(gateway), path, body)


@pytest.mark.fault("B16")
@BOTH_WAYS
@EVERY_WISH
async def test_what_a_backend_can_do_is_done(scene, wish, stream):
    scene.cloud.then(able)
    got = await asked(scene.gateway, wish, "c", stream)
    assert got.status == 200, got.body
    assert honoured(wish, got, stream)


@pytest.fixture(scope="module")
async def plain(tmp_path_factory, anyio_backend) -> AsyncIterator[Pair]:
    """A gateway whose edge does tools and nothing else."""
    async with Upstream(says(logprob=-0.02)) as edge, Upstream(able) as cloud:
        price = {"input_usd": 1, "output_usd": 1}
        small = {"name": "e", "engine": "openai", "base_url": edge.base_url, "model": "small"}
        large = {"name": "c", "base_url": cloud.base_url, "model": "large", "price": price}
        config = {
            "edge": {"backends": [small | {"features": ["tools"]}]},
            "cloud": {"backends": [large]},
        }
        async with running(tmp_path_factory.mktemp("plain"), config) as gateway:
            yield Pair(gateway, edge, cloud)


@pytest.mark.fault("B16")
@BOTH_WAYS
@EVERY_WISH
async def test_an_edge_that_cannot_is_passed_over(plain, wish, stream):
    """The question alone stays on the edge; asked like this it goes to the cloud."""
    plain.edge.requests.clear()
    plain.cloud.requests.clear()
    text = f"Correct the spelling: the {'rivver' if stream else 'treee'} of {wish}"
    assert (await ask(port_of(plain.gateway), CHAT, asking(CHAT, text))).status == 200
    assert (len(plain.edge.posts), len(plain.cloud.posts)) == (1, 0)
    got = await asked(plain.gateway, wish, "auto", stream, text)
    assert got.status == 200, got.body
    assert honoured(wish, got, stream)
    assert (len(plain.edge.posts), len(plain.cloud.posts)) == (1, 1)


@pytest.mark.fault("B16")
@BOTH_WAYS
@EVERY_WISH
async def test_named_it_refuses_what_it_cannot(plain, wish, stream):
    plain.edge.requests.clear()
    got = await asked(plain.gateway, wish, "e", stream)
    assert (got.status, got.json["error"]["code"]) == (400, "unsupported_parameter")
    assert got.json["error"]["param"] in ASKED[wish][1]
    assert not plain.edge.posts


@pytest.mark.fault("B16")
@BOTH_WAYS
@BACKENDS
@pytest.mark.parametrize("wish", ["n", "n of texts"])
async def test_a_server_that_gives_one_choice_for_three_is_found_out(scene, wish, model, stream):
    scene.edge.then(says("Just one."))
    scene.cloud.then(says("Just one."))
    got = await asked(scene.gateway, wish, model, stream)
    if stream and got.status == 200:
        assert any("error" in event for event in events_of(got.body))
        assert b"[DONE]" not in got.body
    else:
        assert got.status >= 400
        assert "n" in (got.json["error"]["param"] or got.json["error"]["message"])
