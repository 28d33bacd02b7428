"""How long a prompt is taken for: Chinese, base64, emoji, code, and very much of one letter."""

from __future__ import annotations

import base64
import json
import random

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of
from tests.integration.running import Pair, running

from hybridge.edge.llama_server import LlamaServer, Load
from hybridge.settings import load
from hybridge.testing.http import ask
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream
from hybridge.wiring import fetcher

pytestmark = pytest.mark.anyio

CHINESE = (
    "今天我们讨论分布式系统中的一致性问题，先回顾两阶段提交的流程，再看它在网络分区时的表现。" * 40
)
TEXTS = {
    "chinese": CHINESE[:1500],
    "traditional": "這份報告說明了過去三年半導體產業的發展趨勢與挑戰，並提出若干建議。" * 45,
    "japanese": "本日は分散システムの一貫性について議論します。まず手順を確認しましょう。" * 40,
    "base64": base64.b64encode(random.Random(1).randbytes(3000)).decode(),
    "emoji": "😀🎉🚀" * 400,
    "families": "👨‍👩‍👧‍👦" * 150,
    "code": "\n".join(" " * (4 * (i % 9)) + f"if value[{i}] is not None:" for i in range(200)),
    "one letter": "a" * 20_000,
    "digits": "3.14159265358979323846" * 80,
}
LETTERS = {name: TEXTS[name] for name in ("base64", "emoji", "code", "one letter", "digits")}
SMALL, LONG = 1024, 800
RULES = {
    "version": 1,
    "rules": [
        {"name": "long", "when": {"tokens_at_least": LONG}, "route": "cloud"},
        {"name": "rest", "when": {"chars_at_least": 0}, "route": "edge"},
    ],
}


@pytest.fixture(scope="module")
async def narrow(tmp_path_factory, anyio_backend):
    """A gateway whose edge has room for 1,024 tokens; what has 800 is long by its rules."""
    folder = tmp_path_factory.mktemp("narrow")
    (folder / "rules.json").write_text(json.dumps(RULES))
    async with Upstream(says("From the edge.")) as edge, Upstream(says("From the cloud.")) as cloud:
        row = {"name": "e", "engine": "openai", "model": "small", "context_tokens": SMALL}
        config = {
            "edge": {"backends": [row | {"base_url": edge.base_url}]},
            "cloud": {"backends": [{"name": "c", "base_url": cloud.base_url, "model": "large"}]},
            "routing": {"rules": str(folder / "rules.json")},
        }
        async with running(folder, config) as gateway:
            yield Pair(gateway, edge, cloud)


@pytest.mark.fault("B38")
@BOTH_WAYS
@pytest.mark.parametrize("name", TEXTS)
async def test_a_long_text_goes_to_the_large_model_and_never_to_the_small_one(narrow, name, stream):
    before = len(narrow.edge.posts)
    answer = await narrow.gateway.chat(TEXTS[name], stream=stream)
    assert (answer.status, answer.account["tier"]) == (200, "cloud")
    assert len(narrow.edge.posts) == before


@pytest.mark.fault("B38")
@pytest.mark.parametrize("text", ["短" * 300, "short " * 300, "短い" * 150], ids=["zh", "en", "ja"])
async def test_a_short_one_stays(narrow, text):
    answer = await narrow.gateway.chat(text)
    assert (answer.status, answer.account["tier"]) == (200, "edge")


@pytest.mark.fault("B38")
@BOTH_WAYS
@pytest.mark.parametrize("name", TEXTS)
async def test_the_small_model_by_its_name_refuses_with_numbers(narrow, name, stream):
    before = len(narrow.edge.posts)
    body = chat(TEXTS[name], model="e", stream=stream)
    got = await ask(port_of(narrow.gateway), body=body)
    assert got.status == 400
    assert got.json["error"]["code"] == "context_length_exceeded"
    assert str(SMALL) in got.json["error"]["message"]
    assert len(narrow.edge.posts) == before


@pytest.mark.fault("B38")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"max_tokens": 50, "messages": [{"role": "user", "content": CHINESE}]}),
        ("/v1/responses", {"input": CHINESE}),
    ],
)
async def test_it_is_the_same_on_the_other_surfaces(narrow, path, body):
    before = len(narrow.edge.posts)
    got = await ask(port_of(narrow.gateway), path, {"model": "auto", **body})
    assert got.status == 200
    assert got.headers["x-hybridge-route"].startswith("cloud")
    assert len(narrow.edge.posts) == before


async def counted(gateway, text: str) -> int:
    """What the gateway takes a text for."""
    body = {"model": "auto", "max_tokens": 1, "messages": [{"role": "user", "content": text}]}
    got = await ask(port_of(gateway), "/v1/messages/count_tokens", body)
    assert got.status == 200
    return got.json["input_tokens"]


@pytest.mark.fault("B38")
async def test_a_million_letters_are_counted_and_never_sent_to_the_small_model(narrow):
    assert await counted(narrow.gateway, "a" * 2**20) >= 2**20 / 8
    assert await counted(narrow.gateway, "汉" * 2**18) >= 2**18
    got = await ask(port_of(narrow.gateway), body=chat("a" * 2**20, model="e"))
    assert (got.status, got.json["error"]["code"]) == (400, "context_length_exceeded")


@pytest.mark.fault("B38")
@pytest.mark.model
@pytest.mark.parametrize(
    ("model", "texts"), [("qwen2.5-0.5b", TEXTS), ("smollm2-135m", LETTERS)], ids=["qwen", "smollm"]
)
async def test_no_real_tokenizer_counts_a_third_more(narrow, model, texts):
    """Asked with too little room, an engine refuses a prompt with its true number of tokens."""
    weights = fetcher(load(None)).ensure(model)
    engine = LlamaServer.load(Load(weights, model, context_tokens=256, slots=1, threads=1))
    try:
        ratios = {}
        for name, text in texts.items():
            said: list[str] = []
            engine.chat(json.dumps(chat(text, max_tokens=1)), said.append)
            true = json.loads(said[0])["error"]["n_prompt_tokens"]
            ratios[name] = round(await counted(narrow.gateway, text) / true, 2)
    finally:
        engine.close()
    print(model, ratios)
    assert all(ratio >= 0.75 for ratio in ratios.values()), ratios
