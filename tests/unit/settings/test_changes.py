"""What a log says of a changed configuration, and what waits for a restart."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hybridge.settings import load, parse
from hybridge.settings.changes import changes, settle, version

GPT = {"name": "gpt", "model": "gpt-4o"}
MINI = {"name": "mini", "model": "gpt-4o-mini"}


def between(old: dict[str, Any], new: dict[str, Any]) -> tuple[str, ...]:
    return changes(parse(old, {}), parse(new, {}))


def cloud(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"cloud": {"backends": list(rows)}}


def test_nothing():
    assert between(cloud(GPT), cloud(GPT)) == ()


def test_keys_and_rows():
    assert between({"routing": {"edge_max": 4}}, {"routing": {"edge_max": 5}}) == (
        "routing.edge_max 4 -> 5",
    )
    assert between({}, cloud(GPT)) == ("cloud.backends gpt added",)
    assert between(cloud(GPT, MINI), cloud(MINI)) == ("cloud.backends gpt removed",)
    assert between(cloud(GPT, MINI), cloud(MINI, GPT)) == ("cloud.backends order changed",)
    assert between(cloud(GPT, MINI), cloud(MINI | {"model": "m"}, GPT)) == (
        "cloud.backends order changed",
        "cloud.backends[mini].model gpt-4o-mini -> m",
    )


def test_a_section_that_comes_or_goes():
    said = between({}, {"cache": {"ttl_s": 60}})
    assert {"cache.ttl_s null -> 60.0", "cache.max_entries null -> 1000"} <= set(said)
    assert between({"privacy": {"types": {"EMAIL": "allow"}}}, {}) == (
        "privacy.types.EMAIL allow -> null",
    )


def test_lists_of_words():
    assert between({}, {"server": {"cors_origins": ["https://a.example"]}}) == (
        'server.cors_origins null -> ["https://a.example"]',
    )


def test_no_secret_is_said():
    def proxied(password: str) -> dict[str, Any]:
        return cloud(GPT | {"proxy": f"http://me:{password}@proxy:3128"})

    said = between(proxied("old-password"), proxied("new-password"))
    assert said == ("cloud.backends[gpt].proxy changed",)
    assert between({}, {"records": {"url": "postgresql+asyncpg://me:pw@host/db"}}) == (
        "records.url sqlite+aiosqlite:///hybridge.db -> postgresql+asyncpg://[redacted]@host/db",
    )


def test_a_value_from_the_environment_is_said_as_it_is_written(tmp_path):
    def settings(text: str):
        path = tmp_path / "hybridge.yaml"
        path.write_text(f"cloud: {{backends: [{{name: gpt, model: {text}}}]}}\n")
        return load(path, {"MODEL": "not-to-be-told"})

    said = changes(settings("gpt-4o"), settings("'${MODEL}'"))
    assert said == ("cloud.backends[gpt].model gpt-4o -> ${MODEL}",)


def test_what_a_running_gateway_cannot_take_over_stays_as_it_is():
    running = parse({"server": {"port": 1}}, {})
    wanted = parse({"server": {"port": 2, "max_body_mb": 1}, "records": {"url": None}}, {})
    sealed = parse({"records": {"audit_key_env": "SEALING"}}, {"SEALING": "k" * 16})
    assert settle(running, sealed)[1] == ("server.port", "records.audit_key_env")
    settled, waiting = settle(running, wanted)
    assert waiting == ("server.port", "records.url")
    assert (settled.server.port, settled.server.max_body_mb) == (1, 1)
    assert settled.records == running.records
    assert settle(running, running) == (running, ())


def test_the_version_is_that_of_everything_configured(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text("{}")
    data = {"routing": {"rules": str(rules)}}
    first = version(parse(data, {}))
    assert version(parse(data, {})) == first
    assert version(parse({}, {})) != first
    rules.write_text("[]")
    assert version(parse(data, {})) != first


@given(st.permutations(["a", "b", "c", "d"]), st.integers(0, 4), st.integers(0, 4))
def test_rows_that_come_and_go_are_all_named(names, before, after):
    def rows(chosen: list[str]) -> dict[str, Any]:
        return cloud(*({"name": name, "model": "m"} for name in chosen))

    old, new = names[:before], names[4 - after :]
    said = between(rows(old), rows(new))
    assert {line for line in said if line.endswith((" added", " removed"))} == {
        *(f"cloud.backends {name} added" for name in new if name not in old),
        *(f"cloud.backends {name} removed" for name in old if name not in new),
    }
