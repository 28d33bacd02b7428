"""R73 and SPEC section 12: configuration, and what is said when it is wrong."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hybridge.core.errors import ConfigError
from hybridge.settings import Settings, load, parse
from hybridge.settings.reference import reference
from hybridge.settings.schema import walk

ROOT = Path(__file__).parents[2]

EXAMPLE = """\
server: {host: 127.0.0.1, port: 8686, api_keys: [{name: team-a, key_env: TEAM_A_KEY, daily_usd: 5}], admin_key_env: HYBRIDGE_ADMIN_KEY}
edge:
  backends:
    - {name: local, engine: llamacpp, model: qwen2.5-0.5b}        # a name in the catalogue or the model store, a .gguf or .onnx path
    - {name: ollama, engine: openai, base_url: http://127.0.0.1:11434/v1, model: qwen3:4b}
cloud:
  backends:
    - {name: gpt, provider: openai, base_url: https://api.openai.com/v1, api_key_env: OPENAI_API_KEY, model: gpt-4o, price: auto}
routing: {edge_max: 4, cloud_min: 7, confidence_min: 0.7, session_window: 3, hedge_after_ms: null, rules: routing_rules.json}
privacy: {action: local_only, types: {EMAIL: pseudonymise}}
budget: {daily_usd: 100}
cache: {ttl_s: 300}
state: {redis_url: null}
records: {url: "sqlite+aiosqlite:///hybridge.db", keep_text: false}
learning: {alpha: 0.1, delta: 0.05, shadow_daily_usd: 1}
"""
KEYS = {
    "TEAM_A_KEY": "key-of-team-a",
    "HYBRIDGE_ADMIN_KEY": "admin-key",
    "OPENAI_API_KEY": "sk-cloud-key",
}


@pytest.fixture
def loaded(tmp_path):
    def from_text(text: str, **environ: str) -> Settings:
        path = tmp_path / "hybridge.yaml"
        path.write_text(text, encoding="utf-8")
        return load(path, environ)

    return from_text


@pytest.fixture
def refused(loaded, tmp_path):
    def from_text(text: str, **environ: str) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            loaded(text, **environ)
        return str(caught.value).replace(f"{tmp_path}/", "").splitlines()

    return from_text


def test_the_specifications_example(loaded, tmp_path):
    settings = loaded(EXAMPLE, **KEYS)
    assert [b.name for b in settings.edge.backends] == ["local", "ollama"]
    assert settings.routing.rules == tmp_path / "routing_rules.json"
    assert settings.privacy.types == {"EMAIL": "pseudonymise"}
    assert settings.cache is not None
    assert settings.server.api_keys[0].daily_usd == Decimal(5)
    secrets = settings.secrets
    assert secrets.tenants == {"team-a": "key-of-team-a"}
    assert secrets.backends == {"gpt": "sk-cloud-key"}
    assert secrets.admin == "admin-key"
    assert secrets.values == set(KEYS.values())


@pytest.mark.parametrize("text", ["", "# nothing\n", "server:\ncache:\n"])
def test_nothing_set_gives_an_edge_of_its_own(loaded, text):
    settings = loaded(text)
    assert settings.server == Settings().server
    assert [b.engine for b in settings.edge.backends] == ["llamacpp"]
    assert (settings.cloud.backends, settings.cache) == ((), None)


def test_no_file_at_all():
    assert load(None, {}).server.host == "127.0.0.1"


def test_settings_are_frozen():
    with pytest.raises(ValidationError):
        Settings().server.port = 1


def test_secrets_are_never_shown(loaded):
    settings = loaded(EXAMPLE, **KEYS)
    shown = f"{settings!r} {settings} {settings.secrets!r} {settings.model_dump_json()}"
    assert not any(key in shown for key in KEYS.values())


ERRORS = {
    "unknown key": (
        "server:\n  prot: 1\n",
        "hybridge.yaml:2:3: server.prot: unknown key; did you mean `port`?",
    ),
    "unknown section": (
        "\nsevrer: {}\n",
        "hybridge.yaml:2:1: sevrer: unknown key; did you mean `server`?",
    ),
    "unknown key in a row": (
        "cloud:\n  backends:\n    - name: a\n      model: m\n      api_key: x\n",
        "hybridge.yaml:5:7: cloud.backends[0].api_key: unknown key; did you mean `api_key_env`?",
    ),
    "wrong type": (
        "server:\n  port: many\n",
        "hybridge.yaml:2:3: server.port: must be a valid integer",
    ),
    "out of range": (
        "routing: {confidence_min: 1.5}\n",
        "hybridge.yaml:1:11: routing.confidence_min: must be less than or equal to 1, not 1.5",
    ),
    "not one of": (
        "edge:\n  backends: [{name: a, model: m, engine: onnx}]\n",
        "hybridge.yaml:2:34: edge.backends[0].engine: must be 'llamacpp', 'ortgenai' or 'openai', not 'onnx'",
    ),
    "missing": (
        "cloud:\n  backends:\n    - name: gpt\n",
        "hybridge.yaml:3:7: cloud.backends[0].model: is missing",
    ),
    "two keys together": (
        "routing:\n  edge_max: 7\n  cloud_min: 7\n",
        "hybridge.yaml:1:1: routing: edge_max (7) must be below cloud_min (7)",
    ),
    "a value for a section": (
        "server: 8080\n",
        "hybridge.yaml:1:1: server: must hold keys, of these: host, port",
    ),
    "a list for a section": ("server: [1]\n", "hybridge.yaml:1:1: server: must hold keys"),
    "a value for a list": (
        "edge: {backends: local}\n",
        "hybridge.yaml:1:8: edge.backends: must be a list",
    ),
    "inside a union": (
        "cloud:\n  backends:\n    - {name: a, model: m, price: {input_usd: much, output_usd: 1}}\n",
        "hybridge.yaml:3:35: cloud.backends[0].price.input_usd: must be a valid decimal",
    ),
    "given twice": (
        "server:\n  port: 1\n  host: x\n  port: 2\n",
        "hybridge.yaml:4:3: server.port: is given twice, first on line 2",
    ),
    "same name in both tiers": (
        "edge: {backends: [{name: a, model: m}]}\ncloud:\n  backends:\n    - {name: a, model: m}\n",
        "hybridge.yaml:4:8: cloud.backends[0].name: `a` is taken already, by edge.backends[0]",
    ),
    "a reserved name": (
        "edge: {backends: [{name: auto, model: m}]}\n",
        "hybridge.yaml:1:20: edge.backends[0].name: `auto` is the name that leaves the choice",
    ),
    "an unknown provider": (
        "cloud: {backends: [{name: a, model: m, provider: nobody}]}\n",
        "hybridge.yaml:1:40: cloud.backends[0].provider: must be one of ",
    ),
    "an open address without keys": (
        "server:\n  host: 0.0.0.0\n",
        "hybridge.yaml:2:3: server.host: 0.0.0.0 can be reached from other machines, so API keys",
    ),
    "a fallback to nobody": (
        "routing: {fallbacks: {local: [gpt]}}\n",
        "hybridge.yaml:1:31: routing.fallbacks.local[0]: no backend `gpt`; there are: local",
    ),
    "a feature that there is not": (
        "cloud: {backends: [{name: a, model: m, features: [tools, magic]}]}\n",
        "hybridge.yaml:1:58: cloud.backends[0].features[1]: unknown feature `magic`; there are ",
    ),
    "a provider without an address": (
        "cloud: {backends: [{name: a, model: m, provider: azure}]}\n",
        "hybridge.yaml:1:20: cloud.backends[0]: provider `azure` has no address of its own",
    ),
    "a negative price": (
        "cloud: {backends: [{name: a, model: m, price: {input_usd: -1, output_usd: 1}}]}\n",
        "hybridge.yaml:1:48: cloud.backends[0].price.input_usd: must be greater than or equal to 0",
    ),
    "a price in words": (
        "cloud: {backends: [{name: a, model: m, price: cheap}]}\n",
        "hybridge.yaml:1:40: cloud.backends[0].price: must be 'auto' or must hold keys, of these: ",
    ),
    "half a price": (
        "cloud: {backends: [{name: a, model: m, price: {input_usd: 1}}]}\n",
        "hybridge.yaml:1:40: cloud.backends[0].price.output_usd: is missing",
    ),
    "a price that is no number": (
        "cloud: {backends: [{name: a, model: m, price: {input_usd: .nan, output_usd: 1}}]}\n",
        "hybridge.yaml:1:48: cloud.backends[0].price.input_usd: must be a finite number",
    ),
    "a missing cloud key": (
        "cloud:\n  backends:\n    - {name: gpt, model: m, api_key_env: NO_SUCH}\n",
        "hybridge.yaml:3:29: cloud.backends[0].api_key_env: environment variable NO_SUCH is not",
    ),
    "a missing tenant key": (
        "server:\n  api_keys:\n    - name: me\n      key_env: NO_SUCH\n",
        "hybridge.yaml:4:7: server.api_keys[0].key_env: environment variable NO_SUCH is not set",
    ),
    "no YAML": ("server: {port: 1\nedge: x\n", "hybridge.yaml:2:5: "),
    "a tab": ("server:\n\tport: 1\n", "hybridge.yaml:2:1: "),
    "no mapping": ("- server\n", "hybridge.yaml:1:1: must hold sections"),
    "an alias within itself": ("server: &a\n  host: *a\n", "hybridge.yaml:1:9: "),
}


@pytest.mark.parametrize("what", ERRORS)
def test_an_error_names_file_line_key_and_way_out(refused, what):
    text, expected = ERRORS[what]
    (line,) = refused(text)
    assert line.startswith(expected)


def test_each_error_is_told_once_and_all_at_the_same_time(refused):
    lines = refused(
        "server: {host: 0.0.0.0, prt: 1}\nrouting: {edge_max: x}\nedge: {backends: [{name: a}]}\n"
        "cloud: {backends: [{name: c, model: m, api_key_env: NO_SUCH}]}\n",
        HYBRIDGE_BUDGET__DALY_USD="1",
    )
    keys = [line.split(": ")[1] for line in lines]
    assert sorted(keys) == [
        "budget.daly_usd", "cloud.backends[0].api_key_env", "edge.backends[0].model",
        "routing.edge_max", "server.prt",
    ]  # fmt: skip


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_key(loaded, host):
    assert loaded(f"server: {{host: '{host}'}}\n").server.host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.5", "example.com", ""])
def test_any_other_address_needs_one(loaded, refused, host):
    with_key = f"server: {{host: '{host}', api_keys: [{{name: me, key_env: MINE}}]}}\n"
    assert "server.host" in refused(f"server: {{host: '{host}'}}\n")[0]
    assert loaded(with_key, MINE="a-key").server.host == host


def test_two_tenants_with_one_key(refused):
    rows = "[{name: a, key_env: A}, {name: b, key_env: B}]"
    (line,) = refused(f"server: {{api_keys: {rows}}}\n", A="the-same", B="the-same")
    assert "server.api_keys[1].key_env: B holds the same key as another row" in line
    assert "the-same" not in line


def test_the_key_of_the_audit_trail_is_not_easily_guessed(loaded, refused):
    text = "records: {audit_key_env: SEALING}\n"
    (line,) = refused(text, SEALING="too-short-a-key")
    assert "records.audit_key_env: SEALING holds fewer than 16 characters" in line
    assert "openssl rand -hex 32" in line
    assert "too-short" not in line
    settings = loaded(text, SEALING="k" * 16)
    assert settings.secrets.audit == "k" * 16
    assert "k" * 16 in settings.secrets.values
    assert loaded("records: {}\n").secrets.audit is None


def test_a_cloud_without_its_usual_key_has_none(loaded):
    text = "cloud: {backends: [{name: gpt, model: m}]}\n"
    assert loaded(text).secrets.backends == {}
    assert loaded(text, OPENAI_API_KEY="sk-1").secrets.backends == {"gpt": "sk-1"}


@pytest.mark.parametrize(
    ("base_url", "found"),
    [
        ("https://api.openai.com/v2", {"gpt": "sk-1"}),
        ("http://127.0.0.1:9000/v1", {}),
        ("https://api.openai.com.evil.example/v1", {}),
    ],
)
def test_a_providers_usual_key_goes_to_that_provider_only(loaded, base_url, found):
    text = f"cloud: {{backends: [{{name: gpt, model: m, base_url: '{base_url}'}}]}}\n"
    assert loaded(text, OPENAI_API_KEY="sk-1").secrets.backends == found


@pytest.mark.parametrize(
    ("name", "value", "section", "key", "expected"),
    [
        ("SERVER__PORT", "9000", "server", "port", 9000),
        ("SERVER__REPORT_IN_BODY", "false", "server", "report_in_body", False),
        ("ROUTING__HEDGE_AFTER_MS", "80.5", "routing", "hedge_after_ms", 80.5),
        ("ROUTING__HEDGE_AFTER_MS", "null", "routing", "hedge_after_ms", None),
        ("RECORDS__URL", "null", "records", "url", None),
        ("BUDGET__DAILY_USD", "2.50", "budget", "daily_usd", Decimal("2.50")),
        ("CACHE__TTL_S", "60", "cache", "ttl_s", 60),
        ("MODELS__SOURCES", '["pypi"]', "models", "sources", ("pypi",)),
        ("PRIVACY__TYPES", '{"EMAIL": "allow"}', "privacy", "types", {"EMAIL": "allow"}),
        ("PRIVACY__TYPES__EMAIL", "allow", "privacy", "types", {"EMAIL": "allow"}),
    ],
)
def test_the_environment_overrides_any_key(name, value, section, key, expected):
    settings = load(None, {f"HYBRIDGE_{name}": value})
    assert getattr(getattr(settings, section), key) == expected


def test_the_environment_reaches_into_rows(loaded):
    settings = loaded(
        EXAMPLE,
        **KEYS,
        HYBRIDGE_EDGE__BACKENDS__1__MODEL="qwen3:8b",
        HYBRIDGE_CLOUD__BACKENDS__0__TIMEOUTS__CONNECT_S="1.5",
        HYBRIDGE_CLOUD__BACKENDS__0__PRICE='{"input_usd": 1, "output_usd": 2}',
    )
    assert [b.model for b in settings.edge.backends] == ["qwen2.5-0.5b", "qwen3:8b"]
    assert settings.cloud.backends[0].timeouts.connect_s == 1.5
    assert settings.cloud.backends[0].price.output_usd == 2


def test_the_environment_reaches_into_rows_that_are_defaults():
    settings = load(None, {"HYBRIDGE_EDGE__BACKENDS__0__MODEL": "smollm2-135m"})
    (row,) = settings.edge.backends
    assert (row.name, row.model) == ("local", "smollm2-135m")


def test_the_environment_adds_a_row_to_an_empty_list():
    row = '[{"name": "gpt", "model": "m"}]'
    assert load(None, {"HYBRIDGE_CLOUD__BACKENDS": row}).cloud.backends[0].name == "gpt"
    parts = {"HYBRIDGE_CLOUD__BACKENDS__0__NAME": "gpt", "HYBRIDGE_CLOUD__BACKENDS__0__MODEL": "m"}
    assert load(None, parts).cloud.backends[0].name == "gpt"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HYBRIDGE_SERVER__PROT", "1", "server.prot: unknown key; did you mean `port`?"),
        ("HYBRIDGE_SEVRER__PORT", "1", "sevrer: unknown key; did you mean `server`?"),
        ("HYBRIDGE_SERVER__PORT", "many", "server.port: must be a valid integer"),
        ("HYBRIDGE_SERVER__PORT__X", "1", "server.port.x: there are no keys here"),
        ("HYBRIDGE_CLOUD__BACKENDS", "gpt", "cloud.backends: must be a list (in an environment"),
        ("HYBRIDGE_CLOUD__BACKENDS", "[{", "cloud.backends: must be a list"),
        ("HYBRIDGE_CLOUD__BACKENDS", '[{"name": "a"}]', "cloud.backends[0].model: is missing"),
        ("HYBRIDGE_SERVER__HOST", "0.0.0.0", "server.host: 0.0.0.0 can be reached"),
        ("HYBRIDGE_EDGE__BACKENDS__5__MODEL", "m", "edge.backends[5].model: there is no such row"),
        ("HYBRIDGE_SERVER", "{}", None),
        ("HYBRIDGE_MODELS", "/models", None),
    ],
)
def test_an_error_in_the_environment_names_the_variable(name, value, said):
    if said is None:  # no double underscore: not an override
        load(None, {name: value})
        return
    with pytest.raises(ConfigError) as caught:
        load(None, {name: value})
    assert str(caught.value).startswith(f"environment variable {name}: {said}")


def test_a_value_that_may_hold_a_password_is_not_repeated(refused):
    lines = refused("cloud: {backends: [{name: a, model: m, price: 'http://me:pw@host'}]}\n")
    assert "pw@" not in "".join(lines)


def test_an_unreadable_file(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        load(tmp_path / "none.yaml", {})
    (tmp_path / "odd.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match=r"odd\.yaml: cannot be read: it is not UTF-8"):
        load(tmp_path / "odd.yaml", {})


def test_anchors_and_merges(loaded):
    settings = loaded(
        "edge:\n  backends:\n    - &row {name: a, model: m, slots: 3}\n    - {<<: *row, name: b}\n"
    )
    assert [(b.name, b.slots) for b in settings.edge.backends] == [("a", 3), ("b", 3)]


def test_paths_begin_at_the_files_folder(loaded, tmp_path):
    (tmp_path / "qwen-int4").mkdir()
    settings = loaded(
        "edge: {backends: [{name: a, model: weights/m.gguf}, {name: b, model: smollm2-135m},\n"
        "  {name: c, engine: ortgenai, model: qwen-int4}, {name: d, engine: ortgenai, model: ./q},\n"
        "  {name: e, engine: ortgenai, model: in-the-store}]}\n"
        "models: {dir: store}\n"
    )
    assert settings.edge.backends[0].model == str(tmp_path / "weights/m.gguf")
    assert settings.edge.backends[1].model == "smollm2-135m"
    assert [row.model for row in settings.edge.backends[2:]] == [
        str(tmp_path / "qwen-int4"),
        str(tmp_path / "q"),
        "in-the-store",
    ]
    assert settings.models.dir == tmp_path / "store"


def test_a_folder_beside_the_file_is_no_name_in_the_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qwen-int4").mkdir()
    row = "{name: a, engine: ortgenai, model: qwen-int4}"
    Path("hybridge.yaml").write_text(f"edge: {{backends: [{row}]}}")
    (found,) = load(Path("hybridge.yaml"), {}).edge.backends
    assert found.model == str(tmp_path / "qwen-int4")


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HYBRIDGE_MODELS": "/m", "XDG_CACHE_HOME": "/c"}, "/m"),
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/hybridge/models"),
        ({"HOME": "/h"}, "/h/.cache/hybridge/models"),
    ],
)
def test_where_models_lie_by_default(environ, folder):
    assert load(None, environ).models.dir == Path(folder)


def test_every_key_is_documented():
    """Run `python -m hybridge.settings.reference` for the tables of the page."""
    page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    assert page.endswith(f"<!-- from here on generated -->\n\n{reference()}")
    assert all(field.description for key, field in walk(Settings) if "." in key)


def test_the_documentations_example(loaded):
    page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    example = page.split("```yaml\n")[1].split("```")[0]
    assert loaded(example, **KEYS).cloud.backends[0].name == "gpt"


def test_the_hubs_address():
    assert load(None, {}).hub_endpoint == "https://huggingface.co"
    assert load(None, {"HF_ENDPOINT": "https://mirror.example"}).hub_endpoint.endswith("example")


def test_the_command_line_outweighs_the_file(loaded):
    settings = loaded(EXAMPLE, **KEYS).with_server(port=0)
    assert (settings.server.port, settings.server.host) == (0, "127.0.0.1")
    assert settings.secrets.tenants == {"team-a": "key-of-team-a"}
    with pytest.raises(ConfigError, match=r"^command line: server\.host: 0\.0\.0\.0 can be"):
        Settings().with_server(host="0.0.0.0")
    with pytest.raises(ConfigError, match=r"^command line: server\.port: must be less"):
        Settings().with_server(port=70_000)


def test_data_instead_of_a_file():
    assert parse({"server": {"port": 0}}, {}).server.port == 0
    with pytest.raises(ConfigError, match=r"configuration: server\.prot: unknown key"):
        parse({"server": {"prot": 0}}, {})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["server", "edge", "cloud", "backends", "name", "model", "port"])
                | st.text(max_size=4),
                inner,
                max_size=4,
            )
        ),
        max_leaves=10,
    )
)
def test_whatever_the_data_only_a_config_error_comes_out(data):
    with suppress(ConfigError):
        parse(data if isinstance(data, dict) else {"server": data}, {})
