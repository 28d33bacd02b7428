"""B55: names with several addresses, and names of this machine."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack, contextmanager

import pytest

from hybridge.cloud.http import address
from hybridge.cloud.http.proxies import proxy_for
from hybridge.cloud.http.race import _by_turns, first_of
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio


@pytest.fixture
def no_proxy_names(monkeypatch):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def line(port, host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))


@contextmanager
def silent():
    """A port whose queue is full: Linux lets who connects to it wait."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


async def accepted(up):
    """A server that is closed while it accepts leaves a warning behind."""
    while not up.connections:
        await asyncio.sleep(0.01)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_one_that_is_silent_does_not_hold_up_the_next():
    async with Upstream() as up:
        with silent() as port:
            with await first_of([line(port), line(up._port)], stagger_s=0.05) as won:
                assert won.getpeername()[1] == up._port
                await accepted(up)


async def test_one_that_refuses_is_followed_at_once():
    async with Upstream() as up:
        addresses = [line(free_port(), "::1"), line(up._port)]
        with await asyncio.wait_for(first_of(addresses, stagger_s=60), 20) as won:
            assert won.getpeername()[1] == up._port
            await accepted(up)


async def test_when_all_refuse_it_says_so():
    with pytest.raises(OSError, match="refused|Connect"):
        await first_of([line(free_port()), line(free_port())], stagger_s=0.01)


async def test_cancelling_leaves_nothing_open():
    """An unclosed socket would be a warning, and a warning is an error here."""
    with silent() as one, silent() as other:
        racing = asyncio.ensure_future(first_of([line(one), line(other)], stagger_s=0.01))
        await asyncio.sleep(0.05)
        racing.cancel()
        await asyncio.wait({racing})
        assert racing.cancelled()


async def test_all_at_once_keeps_one():
    async with Upstream() as up:
        with await first_of([line(up._port)] * 3, stagger_s=0.0) as won:
            assert won.getpeername()[1] == up._port
            await accepted(up)
            await asyncio.sleep(0.05)


def test_families_take_turns():
    found = [line(1, "::1"), line(2, "::1"), line(3), line(4)]
    assert [address[4][1] for address in _by_turns(found)] == [1, 3, 2, 4]


@pytest.mark.parametrize("listens", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("dead_proxy", [False, True], ids=["no proxy", "dead proxy"])
async def test_this_machine_by_any_name(
    opened, soon, monkeypatch, no_proxy_names, listens, dead_proxy
):
    """Never through a proxy, and whichever family somebody listens on."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
        if dead_proxy:
            monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    async with Upstream(host=listens) as up:
        named = f"[{listens}]" if ":" in listens else listens
        for host in (named, "localhost", "LOCALHOST"):
            async with opened(f"http://{host}:{up._port}/v1") as transport:
                assert (await transport.post("/x", b"{}", soon())).status == 200


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://[::ffff:127.0.0.1]/v1", True),
        ("http://localhost./v1", True),
        ("http://a.localhost/v1", True),
        ("http://localhost.example.org/v1", False),
        ("http://notlocalhost/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://[fe80::1]/v1", False),
        ("https://api.example.org/v1", False),
    ],
)
def test_which_hosts_are_this_machine(monkeypatch, no_proxy_names, url, here):
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert address.is_loopback(url) is here
    assert (proxy_for(url, None) is None) is here
    assert proxy_for(url, "direct") is None
    assert proxy_for(url, "http://127.0.0.1:8") is not None


@pytest.mark.parametrize(
    ("url", "authority"),
    [("http://[::1]:8000/v1", "[::1]:8000"), ("http://[2001:db8::1]/v1", "[2001:db8::1]")],
)
def test_ipv6_literals_are_written_as_a_host_header_wants_them(url, authority):
    assert address.upstream(url).authority == authority
