"""Parameters: what was said arrives, what was not does not, and nothing is left out in silence."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.integration.known_faults.common import BACKENDS, BOTH_WAYS, PATIENT, port_of
from tests.integration.known_faults.vocabularies import (
    CHAT,
    EVERY_SHAPE,
    MESSAGES,
    RESPONSES,
    TEXTS,
    asking,
)
from tests.integration.running import Running, running

from hybridge.testing import anthropic
from hybridge.testing.http import Got, ask
from hybridge.testing.replies import Received, Reply, Step, fails, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
BOTH = ("max_completion_tokens", "max_tokens")
LIMIT = {CHAT: "max_tokens", MESSAGES: "max_tokens", RESPONSES: "max_output_tokens"}
LIMIT[TEXTS] = "max_tokens"


@dataclass(frozen=True, slots=True)
class House:
    """A gateway whose backends all ask one upstream, each in its own way, and Anthropic."""

    gateway: Running
    upstream: Upstream
    claude: Upstream

    async def ask(self, path: str, body: dict[str, Any]) -> Got:
        return await ask(port_of(self.gateway), path, body)

    @property
    def sent(self) -> dict[str, Any]:
        """The body of the request that was answered."""
        return (self.upstream.posts or self.claude.posts)[-1].json


@pytest.fixture(scope="module")
async def built(tmp_path_factory, anyio_backend) -> AsyncIterator[House]:
    async with Upstream() as upstream, Upstream() as claude:

        def row(name: str, **more: Any) -> dict[str, Any]:
            plain = {"name": name, "base_url": upstream.base_url, "model": f"m-{name}"}
            return plain | {"price": {"input_usd": 1, "output_usd": 1}} | more

        edges = ["e", "learns-new"]
        clouds = [row(name) for name in ("c", "learns", "learns-old")]
        clouds.append(row("plain", features=["tools"]))
        clouds += [row(f"wants-{name}", limit_field=name) for name in BOTH]
        clouds.append(row("a", provider="anthropic", base_url=claude.base_url, api_key_env="K"))
        small = {"engine": "openai", "base_url": upstream.base_url}
        small |= {"features": ["tools"]}
        config = {
            "edge": {"backends": [small | {"name": n, "model": f"m-{n}"} for n in edges]},
            "cloud": {"backends": clouds},
            "execution": PATIENT,
        }
        folder = tmp_path_factory.mktemp("house")
        async with running(folder, config, env={"K": "some-key"}) as gateway:
            yield House(gateway, upstream, claude)


@pytest.fixture
def house(built) -> House:
    built.upstream.requests.clear()
    built.claude.requests.clear()
    built.upstream.then(says())
    built.claude.then(anthropic.says("Hello."))
    return built


ZEROS = {"temperature": 0, "top_p": 0, "seed": 0, "presence_penalty": 0, "frequency_penalty": 0}
ZEROS_OF: Mapping[str, Mapping[str, Any]] = {
    CHAT: ZEROS | {"logprobs": False, "logit_bias": {}, "parallel_tool_calls": False},
    TEXTS: ZEROS | {"logit_bias": {}},
    MESSAGES: {"temperature": 0, "top_p": 0, "top_k": 0},
    RESPONSES: {"temperature": 0, "top_p": 0},
}
FIELDS = {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options"}


@pytest.mark.fault("B14")
@BOTH_WAYS
@BACKENDS
@EVERY_SHAPE
async def test_zeros_arrive_as_zeros(house, path, model, stream):
    zeros = ZEROS_OF[path]
    got = await house.ask(path, asking(path, model=model, stream=stream, **zeros))
    assert got.status == 200, got.body
    assert {name: house.sent.get(name) for name in zeros} == dict(zeros)
    assert {type(house.sent[name]) for name in zeros} <= {int, bool, dict}


@pytest.mark.fault("B14")
@BOTH_WAYS
@BACKENDS
@EVERY_SHAPE
async def test_what_was_left_out_is_left_out(house, path, model, stream):
    assert (await house.ask(path, asking(path, model=model, stream=stream))).status == 200
    assert house.sent.keys() <= FIELDS
    assert None not in house.sent.values()
    assert ("stream" in house.sent) is stream
    if path != MESSAGES:
        assert house.sent.keys().isdisjoint(BOTH)


@pytest.mark.fault("B14")
@BACKENDS
async def test_the_body_of_a_chat_is_the_callers_own(house, model):
    body = asking(CHAT, model=model, unknown_field={"deep": [0, None, ""]}, **ZEROS_OF[CHAT])
    assert (await house.ask(CHAT, body)).status == 200
    assert house.sent == body | {"model": f"m-{model}"}


@pytest.mark.fault("B14")
@BOTH_WAYS
@EVERY_SHAPE
async def test_zeros_arrive_at_anthropic_too(house, path, stream):
    zeros = {"temperature": 0, "top_p": 0}
    assert (await house.ask(path, asking(path, model="a", stream=stream, **zeros))).status == 200
    assert {name: house.sent[name] for name in zeros} == zeros
    assert (await house.ask(path, asking(path, model="a", stream=stream))).status == 200
    assert house.sent.keys() <= {"model", "messages", "max_tokens", "stream"}


def limits(sent: Mapping[str, Any]) -> dict[str, Any]:
    return {name: sent[name] for name in BOTH if name in sent}


def refusing(name: str, error: Mapping[str, Any]) -> Reply:
    """A server that does not know this name."""

    def reply(received: Received) -> Iterator[Step]:
        if name in received.json:
            yield from fails(400, **error)(received)
        else:
            yield from says()(received)

    return reply


OPENAI = {
    "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
    "type": "invalid_request_error",
    "code": "unsupported_parameter",
}
PYDANTIC = {"message": "body.max_completion_tokens: Extra inputs are not permitted"}
STRICT = {
    "max_tokens": refusing("max_tokens", OPENAI),
    "max_completion_tokens": refusing("max_completion_tokens", PYDANTIC),
}


@pytest.mark.fault("B15")
@BOTH_WAYS
@pytest.mark.parametrize("wanted", BOTH)
@EVERY_SHAPE
async def test_a_backend_gets_the_limit_by_the_name_it_declares(house, path, wanted, stream):
    [other] = {*BOTH} - {wanted}
    house.upstream.then(STRICT[other])
    names = BOTH if path == CHAT else (LIMIT[path],)
    for name in names:
        body = asking(path, model=f"wants-{wanted}", stream=stream, **{name: 17})
        got = await house.ask(path, body)
        assert (got.status, limits(house.sent)) == (200, {wanted: 17})
    assert len(house.upstream.posts) == len(names)


@pytest.mark.fault("B15")
@BOTH_WAYS
@pytest.mark.parametrize("model", ["wants-max_tokens", "wants-max_completion_tokens", "e"])
async def test_of_both_names_the_newer_counts(house, model, stream):
    body = asking(CHAT, model=model, stream=stream, max_tokens=99, max_completion_tokens=17)
    assert (await house.ask(CHAT, body)).status == 200
    assert [*limits(house.sent).values()] == [17]


@pytest.mark.fault("B15")
@pytest.mark.parametrize(
    ("model", "refused"),
    [("learns", "max_tokens"), ("learns-old", BOTH[0]), ("learns-new", "max_tokens")],
)
async def test_a_backend_that_declares_none_is_asked_again_by_the_other_name(house, model, refused):
    """Once: after that it is known."""
    house.upstream.then(STRICT[refused])
    [wanted] = {*BOTH} - {refused}
    both = {"max_tokens": 99, "max_completion_tokens": 17}
    for sent in ({refused: 17}, both, {refused: 17}, both):
        for stream in (False, True):
            got = await house.ask(CHAT, asking(CHAT, model=model, stream=stream, **sent))
            assert got.status == 200, got.body
            assert limits(house.sent) == {wanted: 17}
    assert len(house.upstream.posts) == 8 + 1


@pytest.mark.fault("B15")
@BACKENDS
async def test_a_limit_that_is_too_large_is_not_sent_without_bound(house, model):
    """A refusal of the value is no refusal of the name."""
    said = "max_tokens is too large: 99999. This model supports at most 4096 completion tokens."
    house.upstream.then(fails(400, said, type="invalid_request_error"))
    got = await house.ask(CHAT, asking(CHAT, model=model, max_tokens=99999))
    assert got.status == 400
    assert all(99999 in limits(post.json).values() for post in house.upstream.posts)


@pytest.mark.fault("B15")
@BOTH_WAYS
@pytest.mark.parametrize("value", [0, -1, "10", 1.5, True, [10]], ids=str)
@pytest.mark.parametrize("model", ["e", "c", "a", "auto"])
@EVERY_SHAPE
async def test_a_limit_that_is_none_is_refused_by_name(house, path, model, value, stream):
    for name in BOTH if path == CHAT else (LIMIT[path],):
        got = await house.ask(path, asking(path, model=model, stream=stream, **{name: value}))
        assert (got.status, got.json["error"]["param"]) == (400, name)
    assert not house.upstream.posts + house.claude.posts


@pytest.mark.fault("B15")
@pytest.mark.parametrize("path", [RESPONSES, TEXTS, MESSAGES])
async def test_a_name_of_another_vocabulary_is_refused_as_it_was_spelled(house, path):
    """Passed over, it would leave the answer without a bound."""
    for name in {*BOTH, "max_output_tokens"} - {LIMIT[path]}:
        got = await house.ask(path, asking(path, model="c", **{name: 10}))
        assert (got.status, got.json["error"]["param"]) == (400, name)
    assert not house.upstream.posts
