"""What may be shown of settings, with where each value comes from."""

from __future__ import annotations

import pytest

from hybridge.settings.problems import dotted
from hybridge.settings.reading import Reading
from hybridge.settings.schema import walk
from hybridge.settings.settings import Settings
from hybridge.settings.shown import Value, values

TEXT = """\
server:
  api_keys: [{name: me, key_env: MY_KEY, daily_usd: 2.5}]
edge: {backends: []}
cloud:
  backends:
    - {name: c, model: '${MODEL}', base_url: 'http://me:pw@host/v1', api_key_env: C_KEY}
records: {url: null}
"""
ENVIRON = {"MY_KEY": "key-of-mine", "C_KEY": "sk-cloud", "MODEL": "behind-the-variable"}


@pytest.fixture
def shown(tmp_path):
    path = tmp_path / "hybridge.yaml"
    path.write_text(TEXT)

    def of(**environ: str) -> dict[str, Value]:
        reading = Reading.of(path, ENVIRON | environ)
        return {dotted(value.loc): value for value in values(reading, reading.settings())}

    return of


def test_each_value_names_its_source(shown):
    found = shown(HYBRIDGE_SERVER__PORT="9000")
    where = {key: value.source.rpartition("/")[2] for key, value in found.items()}
    assert where["server.host"] == "default"
    assert where["server.port"] == "environment variable HYBRIDGE_SERVER__PORT"
    assert where["server.api_keys[0].daily_usd"] == "hybridge.yaml:2"
    assert where["cloud.backends[0].model"] == "hybridge.yaml:6"
    assert where["cloud.backends[0].provider"] == "default"
    assert where["records.url"] == "hybridge.yaml:7"
    assert found["server.port"].value == 9000
    assert found["server.api_keys[0].daily_usd"].value == 2.5


def test_secrets_are_set_or_not_and_never_shown(shown):
    found = shown()
    assert found["server.api_keys[0].key_env"].secret == "set"
    assert found["cloud.backends[0].base_url"].value == "http://[redacted]@host/v1"
    assert found["cloud.backends[0].model"].value == "${MODEL}"
    told = repr(found)
    assert not any(secret in told for secret in (*ENVIRON.values(), "me:pw"))


def test_every_key_is_there():
    reading = Reading.of(None, {})
    found = {dotted(value.loc) for value in values(reading, reading.settings())}
    single = {key for key, _ in walk(Settings) if "[]" not in key and key.count(".") == 1}
    inside = {key.rpartition(".")[0] for key, _ in walk(Settings) if key.count(".") > 1}
    missing = {key for key in single - inside if key not in found}
    assert all(
        key.startswith(("cache.", "edge.backends", "embeddings.backends")) for key in missing
    )
