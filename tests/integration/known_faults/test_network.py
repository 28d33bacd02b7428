"""Loopback never goes through a proxy; the cloud does, unless its row says otherwise."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from tests.integration.known_faults.common import BOTH_WAYS, chat, port_of
from tests.integration.running import running

from hybridge.testing.http import ask
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream

pytestmark = [pytest.mark.anyio, pytest.mark.fault("B55")]

FAR_AWAY = "http://models.example.invalid/v1"
"""A name that no resolver knows (RFC 2606), so that only a proxy can reach it."""
NO_PROXIES = {
    name: ""
    for plain in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
    for name in (plain, plain.upper())
}
HARD = "Prove that the square root of 2 is irrational."


def dead_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def through(proxy: str) -> dict[str, str]:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return NO_PROXIES | {n: proxy for name in names for n in (name, name.lower())}


def v6() -> bool:
    """Whether this machine has a loopback address of that kind."""
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


HOSTS = [
    pytest.param("127.0.0.1", "127.0.0.1", id="v4"),
    pytest.param("127.0.0.1", "localhost", id="name, v4 only"),
    pytest.param("127.0.0.2", "127.0.0.2", id="another v4"),
    pytest.param(
        "::1", "[::1]", id="v6", marks=pytest.mark.skipif(not v6(), reason="no IPv6 here")
    ),
    pytest.param(
        "::1", "localhost", id="name, v6 only", marks=pytest.mark.skipif(not v6(), reason="no IPv6")
    ),
]
PROXIES = {
    "dead proxy": lambda: through(f"http://127.0.0.1:{dead_port()}"),
    "none": lambda: NO_PROXIES,
}


@asynccontextmanager
async def gateway(
    folder: Any, *, edge: str, cloud: Mapping[str, Any], env: dict[str, str], **server: Any
):
    config = {
        "server": server,
        "edge": {
            "backends": [{"name": "e", "engine": "openai", "base_url": edge, "model": "small"}]
        },
        "cloud": {"backends": [{"name": "c", "model": "large", **cloud}]},
    }
    async with running(folder, config, env=env) as started:
        yield started


@pytest.mark.parametrize("proxies", PROXIES)
@pytest.mark.parametrize(("listens", "asked"), HOSTS)
async def test_servers_of_this_machine_are_asked_directly(tmp_path, listens, asked, proxies):
    """An edge, and a cloud row that leads to this machine, the same way."""
    async with Upstream(says("From here."), host=listens) as up:
        url = up.base_url.replace(f"[{listens}]" if ":" in listens else listens, asked)
        cloud = {"base_url": url}
        async with gateway(tmp_path, edge=url, cloud=cloud, env=PROXIES[proxies]()) as started:
            for model in ("e", "c"):
                for stream in (False, True):
                    got = await ask(port_of(started), body=chat(model=model, stream=stream))
                    assert got.status == 200, got.body
                    assert b"From" in got.body
        assert len(up.posts) == 4


@BOTH_WAYS
@pytest.mark.parametrize("own", [False, True], ids=["the system's", "its own"])
async def test_a_cloud_is_asked_through_the_proxy(tmp_path, own, stream):
    async with AsyncExitStack() as stack:
        edge = await stack.enter_async_context(Upstream(says("From the edge.")))
        proxy = await stack.enter_async_context(Upstream(says("From afar.")))
        dead = f"http://127.0.0.1:{dead_port()}"
        env = through(dead if own else proxy.root_url)
        cloud = {"base_url": FAR_AWAY} | ({"proxy": proxy.root_url} if own else {})
        started = await stack.enter_async_context(
            gateway(tmp_path, edge=edge.base_url, cloud=cloud, env=env)
        )
        got = await ask(port_of(started), body=chat(HARD, stream=stream))
        assert (got.status, got.headers["x-hybridge-route"]) == (200, "cloud_classified")
        assert proxy.posts[0].target == f"{FAR_AWAY}/chat/completions"
        assert proxy.posts[0].headers["host"] == "models.example.invalid"
        got = await ask(port_of(started), body=chat(model="e", stream=stream))
        assert (got.status, len(edge.posts), len(proxy.posts)) == (200, 1, 1)


@BOTH_WAYS
async def test_a_row_may_refuse_the_systems_proxy(tmp_path, stream):
    async with Upstream(says("From the edge.")) as edge, Upstream() as proxy:
        cloud = {"base_url": FAR_AWAY, "proxy": "direct"}
        env = through(proxy.root_url)
        async with gateway(tmp_path, edge=edge.base_url, cloud=cloud, env=env) as started:
            got = await ask(port_of(started), body=chat(model="c", stream=stream))
            assert got.status in (502, 503)
        assert proxy.requests == []


@BOTH_WAYS
async def test_hosts_that_no_proxy_names_are_asked_directly(tmp_path, stream):
    async with Upstream(says("From the edge.")) as edge, Upstream() as proxy:
        env = through(proxy.root_url) | {"NO_PROXY": ".invalid", "no_proxy": ".invalid"}
        cloud = {"base_url": FAR_AWAY}
        async with gateway(tmp_path, edge=edge.base_url, cloud=cloud, env=env) as started:
            got = await ask(port_of(started), body=chat(model="c", stream=stream))
            assert got.status in (502, 503)
        assert proxy.requests == []


@pytest.mark.skipif(not v6(), reason="no IPv6 here")
@BOTH_WAYS
async def test_it_listens_on_every_address_of_both_kinds(tmp_path, stream):
    key = {"KEY": "sk-team-1", **NO_PROXIES}
    keys = [{"name": "t", "key_env": "KEY"}]
    headers = {"authorization": "Bearer sk-team-1"}
    async with Upstream(says("From here.")) as up:
        async with gateway(
            tmp_path, edge=up.base_url, cloud={"base_url": up.base_url}, env=key,
            host="::", api_keys=keys,
        ) as started:  # fmt: skip
            assert "[::]" in started.url
            got = await ask(port_of(started), body=chat(stream=stream), headers=headers)
            assert got.status == 200
            reader, writer = await asyncio.open_connection("::1", port_of(started))
            writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
            assert b"200 OK" in await reader.readline()
            writer.close()


@pytest.mark.parametrize(
    "url",
    ["http://[::1/v1", "http://[::1]:port/v1", "ftp://127.0.0.1/v1", "http:///v1"],
)
async def test_a_url_that_is_none_is_an_error_of_the_configuration(tmp_path, url):
    with pytest.raises(AssertionError, match="did not start") as refused:
        async with gateway(tmp_path, edge=url, cloud={"base_url": FAR_AWAY}, env=NO_PROXIES):
            pass
    assert "base_url" in str(refused.value)
    assert "Traceback" not in str(refused.value)
