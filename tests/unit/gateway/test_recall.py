"""Answers given again: to whom, and what is never kept (R62)."""

from __future__ import annotations

import pytest

from hybridge.core.plan import Route
from hybridge.core.request import Feature
from hybridge.testing.backend import saying

pytestmark = pytest.mark.anyio

SURE = saying("The tilt of its axis.", confidence=0.99)
CLOUD = saying("The tilt of Earth's axis.")
EASY = 0.1
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
SEMANTIC = {"semantic": {}}
ASKED, AGAIN = "What is the capital of France?", "Please tell me what the capital of France is."
LONG = " ".join(f"word{number}" for number in range(1500))


async def served(scene, request):
    async with scene.gateway.serve(request) as reply:
        text = "".join([event.text async for event in reply.events])
        return text, reply.report()


@STREAMS
async def test_a_similar_question_gets_the_answer_and_is_told_so(stage, ask, stream):
    async with stage(SURE, CLOUD, p=EASY, cache=SEMANTIC) as scene:
        await served(scene, ask(ASKED, stream=stream))
        text, report = await served(scene, ask(AGAIN, stream=not stream))
        assert (text, report.route) == ("The tilt of its axis.", Route.CACHE)
        assert "answered before (similar question)" in report.reasons
        assert report.cost_usd == 0
        _, report = await served(scene, ask(ASKED))
        assert "answered before" in report.reasons
    assert len(scene.edge.calls) == 1


@STREAMS
@pytest.mark.parametrize(
    "other",
    [
        {"tenant": "b"},
        {"extra": {"user": "somebody else"}},
        {"session": "another"},
        {"turns": [("system", "Answer in French.")]},
        {"extra": {"temperature": 0.1}},
    ],
    ids=["key", "user", "session", "system prompt", "parameters"],
)
@pytest.mark.parametrize("before", ["", LONG], ids=["short", "long"])
@pytest.mark.parametrize("again", [ASKED, AGAIN], ids=["same", "similar"])
async def test_others_never_get_it(stage, ask, other, before, again, stream):
    async with stage(SURE, CLOUD, p=EASY, cache=SEMANTIC) as scene:
        await served(scene, ask(f"{before} {ASKED}", stream=stream))
        _, report = await served(scene, ask(f"{before} {again}", stream=stream, **other))
        assert report.route is not Route.CACHE
    assert len(scene.edge.calls) == 2


async def test_the_same_long_prompt_of_the_same_caller_gets_it(stage, ask):
    async with stage(SURE, CLOUD, p=EASY, cache=SEMANTIC) as scene:
        await served(scene, ask(f"{LONG} {ASKED}"))
        _, report = await served(scene, ask(f"{LONG} {ASKED}"))
    assert report.route is Route.CACHE


@pytest.mark.parametrize("action", ["local_only", "allow"])
async def test_personal_data_are_not_kept_even_where_they_may_pass(stage, ask, action):
    private = ask("My e-mail is ann.miller@example.org. What is the capital of France?")
    policy = {"types": {"EMAIL": action}}
    async with stage(SURE, CLOUD, p=EASY, cache=SEMANTIC, privacy=policy) as scene:
        for _ in range(2):
            _, report = await served(scene, private)
            assert report.route is not Route.CACHE
    assert len(scene.edge.calls) == 2


async def test_tools_want_the_very_same_request(stage, ask):
    tools = {"tools": [{"type": "function"}]}
    able = {"features": frozenset({Feature.TOOLS}), "extra": tools}
    async with stage(SURE, CLOUD, p=EASY, cache=SEMANTIC) as scene:
        await served(scene, ask(ASKED, **able))
        _, report = await served(scene, ask(AGAIN, **able))
        assert report.route is not Route.CACHE
        _, report = await served(scene, ask(ASKED, **able))
        assert report.route is Route.CACHE


async def test_without_the_setting_only_the_same_words_do(stage, ask):
    async with stage(SURE, CLOUD, p=EASY, cache=True) as scene:
        await served(scene, ask(ASKED))
        _, report = await served(scene, ask(AGAIN))
    assert report.route is not Route.CACHE


@pytest.mark.parametrize("scope", ["key", "all"])
async def test_a_wider_scope_is_for_configuration_to_give(stage, ask, scope):
    async with stage(SURE, CLOUD, p=EASY, cache=SEMANTIC | {"scope": scope}) as scene:
        await served(scene, ask(ASKED, session="one"))
        _, report = await served(scene, ask(AGAIN, session="another"))
        assert report.route is Route.CACHE
        _, report = await served(scene, ask(ASKED, tenant="b"))
        assert (report.route is Route.CACHE) == (scope == "all")
