"""From a LiteLLM proxy's configuration to one of ours, with nothing lost in silence."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hybridge.settings import parse
from hybridge.settings.litellm import Converted, convert

EVERYTHING = """\
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: https://my-endpoint.openai.azure.com/
      api_key: os.environ/AZURE_KEY_EU
      api_version: "2023-05-15"
      rpm: 6
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_key: sk-live-0123456789abcdef
      input_cost_per_token: 0.0000025
      output_cost_per_token: 0.00001
      timeout: 300
      stream_timeout: 60
  - model_name: claude
    litellm_params: {model: anthropic/claude-sonnet-4, api_key: os.environ/ANTHROPIC_API_KEY}
  - model_name: llama
    litellm_params: {model: ollama_chat/llama3.1, api_base: "http://localhost:11434", temperature: 0.2}
  - model_name: bedrock
    litellm_params: {model: bedrock/anthropic.claude-v2}
  - model_name: ada
    litellm_params: {model: text-embedding-ada-002}
    model_info: {mode: embedding}
litellm_settings:
  drop_params: true
  request_timeout: 120
  fallbacks: [{"claude": ["gpt-4o", "nobody"]}]
  cache: true
  cache_params: {type: redis, ttl: 600, password: hunter2}
  max_budget: 50
  budget_duration: 1d
router_settings:
  routing_strategy: simple-shuffle
  fallbacks: [{"llama": ["claude"]}]
  allowed_fails: 2
  cooldown_time: 30
general_settings:
  master_key: sk-1234
  database_url: postgresql://me:hunter2@host/db
environment_variables: {REDIS_HOST: 10.1.2.3}
"""


@pytest.fixture
def converted(tmp_path):
    def of(text: str) -> Converted:
        path = tmp_path / "config.yaml"
        path.write_text(text)
        return convert(path)

    return of


def settings_of(found: Converted):
    """The settings that it is, with every variable set that it names."""
    data = yaml.safe_load(found.text)
    return parse(data, dict.fromkeys(_named(data), "a-key") | _distinct(data))


def _named(data: Any) -> list[str]:
    if isinstance(data, dict):
        own = [value for key, value in data.items() if key.endswith("_env")]
        return own + [name for value in data.values() for name in _named(value)]
    return [name for one in data for name in _named(one)] if isinstance(data, list) else []


def _distinct(data: dict[str, Any]) -> dict[str, str]:
    rows = data.get("server", {}).get("api_keys", ())
    return {row["key_env"]: f"key-of-{row['name']}" for row in rows}


def test_models_become_backends_of_their_tier(converted):
    settings = settings_of(converted(EVERYTHING))
    edge, cloud = settings.edge.backends, settings.cloud.backends
    assert [(b.name, b.model, b.base_url) for b in edge] == [
        ("llama", "llama3.1", "http://localhost:11434/v1")
    ]
    assert [(b.name, b.provider, b.model, b.api_key_env) for b in cloud] == [
        ("gpt-4o", "azure", "gpt-4o-eu", "AZURE_KEY_EU"),
        ("gpt-4o-2", "openai", "gpt-4o", "GPT_4O_2_API_KEY"),
        ("claude", "anthropic", "claude-sonnet-4", "ANTHROPIC_API_KEY"),
    ]
    assert cloud[0].base_url == "https://my-endpoint.openai.azure.com/openai/v1"
    assert (cloud[1].price.input_usd, cloud[1].price.output_usd) == (2.5, 10)
    assert (cloud[1].timeouts.first_byte_s, cloud[1].timeouts.total_s) == (60, 300)


def test_groups_and_lists_become_fallbacks(converted):
    assert settings_of(converted(EVERYTHING)).routing.fallbacks == {
        "gpt-4o": ("gpt-4o-2",),
        "claude": ("gpt-4o", "gpt-4o-2"),
        "llama": ("claude",),
    }


def test_the_other_sections(converted):
    settings = settings_of(converted(EVERYTHING))
    assert [(row.name, row.key_env) for row in settings.server.api_keys] == [
        ("master", "LITELLM_MASTER_KEY")
    ]
    execution = settings.execution
    assert (execution.deadline_s, execution.breaker_failures, execution.breaker_open_s) == (
        120,
        3,
        30,
    )
    assert settings.cache is not None
    assert (settings.cache.ttl_s, settings.budget.daily_usd) == (600, 50)
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 4000)


def test_everything_else_is_noted_with_its_line_and_key(converted):
    notes = converted(EVERYTHING).notes
    keys = [note.split(": ")[1] for note in notes]
    assert keys == [
        "model_list[0].litellm_params.api_version",
        "model_list[0].litellm_params.rpm",
        "model_list[1].model_name",
        "model_list[1].litellm_params.api_key",
        "model_list[3].litellm_params.temperature",
        "model_list[4]",
        "model_list[5]",
        "litellm_settings.drop_params",
        "litellm_settings.fallbacks[0].claude[1]",
        "litellm_settings.cache_params.type",
        "litellm_settings.cache_params.password",
        "router_settings.routing_strategy",
        "general_settings.master_key",
        "general_settings.database_url",
        "environment_variables.REDIS_HOST",
    ]
    assert notes[0].startswith("line 7: ")
    assert all(note in converted(EVERYTHING).text for note in notes)


def test_no_secret_is_written_or_told(converted):
    found = converted(EVERYTHING)
    told = found.text + "".join(found.notes)
    assert not any(secret in told for secret in ("sk-live", "sk-1234", "hunter2", "10.1.2.3"))


def test_without_a_local_model_there_is_the_usual_one(converted):
    rows = "model_list: [{model_name: local, litellm_params: {model: gpt-4o}}]\n"
    settings = settings_of(converted(rows))
    assert [(b.name, b.engine) for b in settings.edge.backends] == [("local-model", "llamacpp")]
    assert settings.cloud.backends[0].provider == "openai"


@pytest.mark.parametrize(
    ("model", "more", "expected"),
    [
        ("gpt-4o", {}, ("openai", "gpt-4o", None)),
        ("claude-3-haiku", {}, ("anthropic", "claude-3-haiku", None)),
        ("groq/llama-3.1-8b", {}, ("groq", "llama-3.1-8b", None)),
        ("openrouter/google/gemma", {}, ("openrouter", "google/gemma", None)),
        ("cerebras/llama3", {}, ("openai", "llama3", "https://api.cerebras.ai/v1")),
        (
            "meta-llama/Llama-3",
            {"api_base": "https://h/v1"},
            ("openai", "meta-llama/Llama-3", "https://h/v1"),
        ),
        (
            "hosted_vllm/m",
            {"api_base": "http://10.0.0.5:8000/v1/"},
            ("vllm", "m", "http://10.0.0.5:8000/v1"),
        ),
        (
            "anthropic/c",
            {"api_base": "https://proxy.example"},
            ("anthropic", "c", "https://proxy.example/v1"),
        ),
    ],
)
def test_providers(converted, model, more, expected):
    entry = {"model_name": "m", "litellm_params": {"model": model} | more}
    (row,) = settings_of(converted(yaml.safe_dump({"model_list": [entry]}))).cloud.backends
    assert (row.provider, row.model, row.base_url) == expected


def test_an_address_in_the_environment_stays_there(converted):
    params = {"model": "openai/m", "api_base": "os.environ/MY_BASE", "api_key": "os.environ/K"}
    text = converted(
        yaml.safe_dump({"model_list": [{"model_name": "m", "litellm_params": params}]})
    ).text
    assert "base_url: ${MY_BASE}" in text


def test_half_a_price_is_none_and_noted(converted):
    params = {"model": "openai/m", "input_cost_per_token": 0.001}
    found = converted(
        yaml.safe_dump({"model_list": [{"model_name": "m", "litellm_params": params}]})
    )
    assert settings_of(found).cloud.backends[0].price == "auto"
    assert any("half a price" in note for note in found.notes)


def test_fallbacks_for_everybody(converted):
    names = [{"model_name": n, "litellm_params": {"model": f"openai/{n}"}} for n in "abc"]
    found = converted(
        yaml.safe_dump({"model_list": names, "litellm_settings": {"default_fallbacks": ["c"]}})
    )
    assert settings_of(found).routing.fallbacks == {"a": ("c",), "b": ("c",)}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.sampled_from(["gpt-4o", "ollama/m", "os.environ/X", "a"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["model_name", "litellm_params", "model", "api_base", "api_key", "fallbacks", "cache",
             "rpm", "timeout", "a", "model_info", "mode", "master_key", "cache_params", "ttl"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
SECTIONS = ["model_list", "litellm_settings", "router_settings", "general_settings", "callbacks"]


@given(data=st.dictionaries(st.sampled_from(SECTIONS), VALUES, max_size=4))
def test_whatever_the_file_holds_the_result_can_be_read(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("litellm") / "config.yaml"
    path.write_text(yaml.safe_dump(data))
    found = convert(path)
    assert isinstance(yaml.safe_load(found.text), dict)
    assert all(note.startswith("line ") for note in found.notes)
