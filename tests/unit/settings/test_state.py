"""Where a shared cache is, and the secret that its keys are made with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import ConfigError
from hybridge.settings import parse
from hybridge.settings.document import Document
from hybridge.settings.problems import dotted
from hybridge.settings.reading import Reading
from hybridge.settings.shown import values
from hybridge.settings.warnings import warnings
from hybridge.storage.config import wrong_with

URL = "redis://localhost:6379/0"
KEY = "0123456789abcdef0123456789abcdef"
CACHE = {"store": "redis", "key_env": "CACHE_KEY"}


def reading(cache, url, **environ):
    data = {"cache": cache, "state": {"redis_url": url}}
    return Reading(Document("here", data), environ)


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "redis://localhost",
        "redis://[::1]:6379/15",
        "redis://me:p%40ss@cache.example:6380/2",
        "rediss://:secret@cache.example/0?ssl_ca_certs=/etc/ca.pem&ssl_cert_reqs=required",
        "unix:///run/redis.sock?db=3",
        "unix://:secret@/run/redis.sock",
    ],
)
def test_an_address_that_can_be_used(url):
    assert parse({"state": {"redis_url": url}}, {}).state.redis_url == url


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:6379", "must begin with redis://"),
        ("http://localhost:6379/hunter2", "must begin with redis://"),
        ("redis:///0", "must begin with redis://"),
        ("redis://localhost:hunter2/0", "is no address"),
        ("redis://[hunter2/0", "is no address"),
        ("redis://localhost:6379/hunter2", "must end with the number"),
        ("redis://:hunter/2@localhost:6379/0", "number of a database|is no address"),
        ("redis://:hunter@2@localhost:6379/0", "write it as %40"),
        ("redis://localhost/0?password=hunter2", "unknown options: password"),
        ("redis://localhost/0?socket_timeout=9", "unknown options: socket_timeout"),
    ],
)
def test_an_address_that_cannot_is_not_repeated(url, said):
    with pytest.raises(ConfigError, match=f"state.redis_url: .*({said})") as caught:
        parse({"state": {"redis_url": url}}, {})
    assert "hunter" not in str(caught.value)


@given(st.text(max_size=30), st.sampled_from(["redis://", "rediss://h", "unix://", ""]))
def test_any_text_is_one_or_the_other(text, scheme):
    assert wrong_with(scheme + text) is None or "\n" not in str(wrong_with(scheme + text))


def test_the_environment_sets_it_and_its_login_is_not_shown():
    secret = "redis://me:hunter2@localhost:6379/0"
    found = Reading.of(None, {"HYBRIDGE_STATE__REDIS_URL": secret})
    settings = found.settings()
    assert settings.state.redis_url == secret
    (shown,) = [v for v in values(found, settings) if dotted(v.loc) == "state.redis_url"]
    assert shown.value == "redis://[redacted]@localhost:6379/0"
    assert shown.source == "environment variable HYBRIDGE_STATE__REDIS_URL"


def test_a_shared_cache_holds_its_secret_and_does_not_show_it():
    found = reading(CACHE, URL, CACHE_KEY=KEY)
    settings = found.settings()
    assert settings.secrets.cache == KEY
    assert KEY in settings.secrets.values
    shown = {dotted(value.loc): value for value in values(found, settings)}
    assert shown["cache.key_env"].secret == "set"
    assert KEY not in repr(shown)


@pytest.mark.parametrize(
    ("cache", "url", "environ", "said"),
    [
        (CACHE, None, {"CACHE_KEY": KEY}, "cache.store: `redis` needs an address: set state.redis"),
        (CACHE, URL, {}, "cache.key_env: environment variable CACHE_KEY is not set"),
        (CACHE, URL, {"CACHE_KEY": "hunter2"}, "cache.key_env: CACHE_KEY holds fewer than 32"),
        ({"store": "disk"}, URL, {}, "cache.store: must be 'memory' or 'redis'"),
    ],
)
def test_what_a_shared_cache_lacks_is_named(cache, url, environ, said):
    with pytest.raises(ConfigError, match=said) as caught:
        reading(cache, url, **environ).settings()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("cache", "url", "said"),
    [
        (None, URL, ["is not used"]),
        ({}, URL, ["is not used"]),
        ({"store": "redis"}, URL, ["its own answers only"]),
        (CACHE, URL, []),
        (CACHE, "rediss://cache.example/0", []),
        (CACHE, "redis://cache.example/0", ["unencrypted"]),
    ],
)
def test_what_is_hardly_meant(cache, url, said):
    found = reading(cache, url, CACHE_KEY=KEY)
    told = [p.what for p in warnings(found, found.settings()) if p.loc[0] in ("cache", "state")]
    assert len(told) == len(said)
    assert all(part in what for part, what in zip(said, told, strict=True))
