"""From configuration to embeddings: the shipped model, folders, servers; end to end over HTTP."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest

from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import Ledger
from hybridge.core.backend import FREE, Price
from hybridge.core.clock import SystemClock
from hybridge.core.errors import ConfigError, ModelError
from hybridge.core.events import Events
from hybridge.core.redaction import Redactor
from hybridge.core.request import Tier
from hybridge.edge.embedder_config import SHIPPED, EmbeddingsConfig
from hybridge.edge.encoder import MEANING, Encoder
from hybridge.execution.config import ExecutionConfig
from hybridge.privacy.guard import Guard
from hybridge.privacy.policy import Policy
from hybridge.server.app import App
from hybridge.server.config import ServerConfig
from hybridge.server.drain import Drain
from hybridge.server.embeddings import PATH, Embeddings
from hybridge.server.intake import Intake
from hybridge.server.routes import Place, Routes
from hybridge.server.serve import Listener
from hybridge.server.terms import Terms
from hybridge.settings.secrets import Secrets
from hybridge.testing.embedding import embedding_request, embeds, vector_of
from hybridge.testing.upstream import Upstream
from hybridge.wiring.embedders import EmbedderRow, EmbedderRows, embedding_gateway

pytestmark = pytest.mark.anyio
CLOCK = SystemClock()
CHINESE = "今天天气怎么样，我们去公园散步吧"


@asynccontextmanager
async def made(
    config: EmbeddingsConfig,
    *,
    kept: Mapping[str, EmbedderRow] | None = None,
    secrets: Secrets | None = None,
    load: bool = True,
) -> AsyncIterator[dict[str, EmbedderRow]]:
    rows = await EmbedderRows(Events(), CLOCK, load=load).make(
        config, secrets or Secrets(), ExecutionConfig(), kept or {}
    )
    try:
        yield rows
    finally:
        for row in rows.values():
            await row.close()


@pytest.fixture
def sdk() -> Callable[[EmbeddingsConfig], AbstractAsyncContextManager[openai.AsyncOpenAI]]:
    """The official client of a gateway that is configured so."""

    @asynccontextmanager
    async def connected(config: EmbeddingsConfig) -> AsyncIterator[openai.AsyncOpenAI]:
        async with made(config) as rows:
            gateway = embedding_gateway(
                config,
                rows,
                Guard(Policy()),
                Ledger(BudgetConfig(), {}, CLOCK),
                deadline_s=60,
                events=Events(),
                clock=CLOCK,
            )
            settings = ServerConfig(port=0)
            terms = Terms(settings, {})
            drain = Drain(terms)
            embeddings = Embeddings(gateway, Intake(terms, CLOCK), drain)
            routes = Routes({PATH: Place({"POST": embeddings.create})})
            async with Listener(App(routes, drain, terms, Redactor(), ()), settings) as listener:
                url = f"{listener.url}/v1"
                async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as sdk:
                    yield sdk

    return connected


def configured(*rows: dict[str, Any], auto: str | None = None) -> EmbeddingsConfig:
    return EmbeddingsConfig.model_validate({"backends": rows, "auto": auto})


async def test_without_configuration_the_shipped_model_serves(sdk):
    texts = ["I want a refund", "Please give me my money back", "How do I bake bread?"]
    async with sdk(EmbeddingsConfig()) as client:
        answer = await client.embeddings.create(model="auto", input=texts)
        named = await client.embeddings.create(model=SHIPPED, input=texts[0], dimensions=384)
    vectors = np.array([row.embedding for row in answer.data], np.float32)
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert named.data[0].embedding == answer.data[0].embedding
    assert answer.model == SHIPPED
    assert answer.usage.prompt_tokens == 24
    encoder = Encoder.shipped(threads=1, folder=MEANING)
    assert np.allclose(vectors[0], encoder.encode(texts[0]), atol=1e-5)
    encoder.close()


async def test_chinese_is_never_given_a_vector_without_a_meaning(sdk):
    async with sdk(EmbeddingsConfig()) as client:
        with pytest.raises(openai.BadRequestError) as no:
            await client.embeddings.create(model="auto", input=["fine", CHINESE])
    assert (no.value.param, no.value.code) == ("input[1]", "unsupported_language")


async def test_chinese_goes_to_the_model_that_reads_it_and_private_texts_stay_here(sdk):
    async with Upstream(embeds()) as upstream:
        far = {"name": "far", "engine": "openai", "model": "large", "tier": "cloud"}
        far |= {"base_url": upstream.base_url, "price": "0.02"}
        config = configured({"name": SHIPPED, "model": SHIPPED}, far, auto="far")
        async with sdk(config) as client:
            answer = await client.embeddings.create(model="auto", input=CHINESE)
            asked = len(upstream.posts)
            with pytest.raises(openai.UnprocessableEntityError) as no:
                await client.embeddings.create(model="auto", input="write to alice@example.com")
            here = await client.embeddings.create(model=SHIPPED, input="write to alice@example.com")
    assert np.array_equal(np.array(answer.data[0].embedding, np.float32), vector_of(CHINESE))
    assert answer.hybridge["cost_usd"] == pytest.approx(0.02 / 1e6)
    assert (no.value.code, len(upstream.posts)) == ("privacy_no_local_path", asked)
    assert here.hybridge["tier"] == "edge"


async def test_a_folder_is_loaded_at_the_start(tmp_path: Path):
    folder = tmp_path / "my-model"
    folder.mkdir()
    shutil.copy(MEANING / "encoder.onnx", folder / "model.onnx")
    shutil.copy(MEANING / "tokenizer.json", folder)
    async with made(configured({"name": "mine", "model": str(folder)})) as rows:
        spec = rows["mine"].embedder.spec
    assert (spec.model, spec.dimensions, spec.languages) == ("my-model", 384, None)
    assert (spec.leaves_device, spec.price, len(spec.version)) == (False, FREE, 12)


async def test_a_folder_that_is_not_there_is_named_with_its_row(tmp_path: Path):
    config = configured({"name": "mine", "model": str(tmp_path / "nowhere")})
    with pytest.raises(ModelError, match=r"`mine`: there is no .*nowhere/model\.onnx"):
        async with made(config):
            pass


@pytest.mark.parametrize(
    ("row", "tier", "leaves", "price"),
    [
        ({"base_url": "http://127.0.0.1:11434/v1"}, Tier.EDGE, False, FREE),
        ({"base_url": "http://127.0.0.1:1/v1", "tier": "cloud"}, Tier.CLOUD, True, None),
        ({"base_url": "http://10.0.0.7/v1", "trusted": True}, Tier.EDGE, False, FREE),
        ({"base_url": "http://10.0.0.7/v1"}, Tier.CLOUD, True, None),
        (
            {"base_url": "https://api.example.com/v1", "price": "0.5"},
            Tier.CLOUD,
            True,
            Price(Decimal("0.5"), Decimal(0)),
        ),
        ({"provider": "ollama"}, Tier.EDGE, False, FREE),
    ],
)
async def test_where_a_server_belongs_and_what_it_costs(row, tier, leaves, price):
    config = configured({"name": "s", "engine": "openai", "model": "bge-m3", **row})
    async with made(config) as rows:
        spec = rows["s"].embedder.spec
    assert (spec.tier, spec.leaves_device, spec.price) == (tier, leaves, price)
    assert (spec.shortens, spec.reads_tokens, spec.languages) == (True, True, None)


async def test_a_server_without_an_address_is_refused():
    config = configured({"name": "s", "engine": "openai", "model": "m", "provider": "azure"})
    with pytest.raises(ConfigError, match="`s` needs a base_url"):
        async with made(config):
            pass


async def test_a_key_goes_to_its_own_row():
    async with Upstream(embeds()) as upstream:
        row = {"name": "s", "engine": "openai", "model": "m", "base_url": upstream.base_url}
        async with made(configured(row), secrets=Secrets(backends={"s": "sk-1234567890"})) as rows:
            gateway = embedding_gateway(
                configured(row),
                rows,
                Guard(Policy()),
                Ledger(BudgetConfig(), {}, CLOCK),
                deadline_s=10,
                events=Events(),
                clock=CLOCK,
            )
            await gateway.embed(embedding_request("hi"))
    assert upstream.posts[0].headers["authorization"] == "Bearer sk-1234567890"


async def test_rows_that_did_not_change_are_kept():
    one, other = {"name": "a", "model": SHIPPED}, {"name": "b", "model": SHIPPED}
    async with made(configured(one, other)) as before:
        changed = configured(one, {**other, "queue": 3})
        async with made(changed, kept=before) as after:
            assert after["a"] is before["a"]
            assert after["b"] is not before["b"]


async def test_nothing_is_loaded_where_nothing_is_served(tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    async with made(configured({"name": "mine", "model": str(tmp_path)}), load=False) as rows:
        assert rows["mine"].embedder.spec.dimensions is None
