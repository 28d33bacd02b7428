"""With whom a connection is made: names, certificates, redirects."""

from __future__ import annotations

import asyncio

import pytest
import trustme
from tests.unit.cloud.pictures.scene import asking, moved, response, soon, urls_in

from hybridge.cloud.pictures.errors import BadPicture

pytestmark = pytest.mark.anyio
NAME = "pictures.example"
SAYS = {"/a": response()}
NOT_PUBLIC = "leads to no public address"


async def test_https_under_the_name_that_the_url_has(host, pictures, resolver, certified):
    resolve, names = resolver({NAME: ["127.0.0.1"]}), []
    tls = certified(NAME)
    tls.sni_callback = lambda _, name, __: names.append(name)
    async with host(SAYS, tls) as it:
        url = f"https://{NAME.title()}.:{it.port}/a"
        (made,) = urls_in(await pictures(resolve).inline(asking(url), soon()))
    assert made.startswith("data:image/png;base64,")
    assert names == [NAME]
    assert f"host: {NAME}:{it.port}\r\n" in it.heads[0]


@pytest.mark.parametrize("which", ["another name", "another authority"])
async def test_a_certificate_that_proves_nothing(host, pictures, resolver, certified, which):
    other = which == "another name"
    tls = certified("x.example") if other else certified(NAME, by=trustme.CA())
    async with host(SAYS, tls) as it:
        url = f"https://{NAME}:{it.port}/a"
        with pytest.raises(BadPicture, match="certificate is not trusted"):
            await pictures(resolver({NAME: ["127.0.0.1"]})).inline(asking(url), soon())
    assert it.heads == []


async def test_a_host_without_tls_is_not_spoken_to_in_the_clear(pictures):
    heard = bytearray()

    async def answer(reader, writer):
        heard.extend(await reader.read(65536))
        writer.write(response(status="400 Bad Request"))
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(BadPicture, match="cannot be reached"):
            await pictures().inline(asking(f"https://127.0.0.1:{port}/a"), soon())
    assert b"GET" not in heard


async def test_a_name_is_resolved_once(host, pictures, resolver):
    resolve = resolver({NAME: [["127.0.0.1"], ["192.0.2.1"]]})
    async with host(SAYS) as it:
        await pictures(resolve).inline(asking(f"http://{NAME}:{it.port}/a"), soon())
    assert (resolve.asked, it.paths) == ([NAME], ["/a"])


async def test_a_name_that_changes_its_answer_gains_nothing(host, pictures, resolver):
    """It leads outside when it is looked at, and here when it would be looked up once more."""
    resolve = resolver({NAME: [["203.0.113.9"], ["127.0.0.1"]]})
    async with host(SAYS) as it:
        with pytest.raises(BadPicture, match=NOT_PUBLIC):
            await pictures(resolve).inline(asking(f"http://{NAME}:{it.port}/a"), soon())
    assert (resolve.asked, it.connections) == ([NAME], 0)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["::ffff:7f00:1"]])
async def test_a_name_for_this_machine(host, pictures, resolver, addresses):
    resolve = resolver({NAME: addresses})
    async with host(SAYS) as it:
        with pytest.raises(BadPicture, match=NOT_PUBLIC):
            url = f"https://{NAME}:{it.port}/a"
            await pictures(resolve, allowed=()).inline(asking(url), soon())
    assert it.connections == 0


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "0.0.0.0"])
async def test_this_machine_under_its_own_names(host, pictures, name):
    async with host(SAYS) as it:
        with pytest.raises(BadPicture, match=NOT_PUBLIC):
            url = f"https://{name}:{it.port}/a"
            await pictures(allowed=()).inline(asking(url), soon())
    assert it.connections == 0


async def test_names_that_are_nowhere_look_like_names_inside(pictures, resolver):
    said = set()
    for answers in ({}, {NAME: ["10.0.0.1"]}, {NAME: []}):
        with pytest.raises(BadPicture) as raised:
            resolve = resolver(answers)
            await pictures(resolve, allowed=()).inline(asking(f"https://{NAME}/a"), soon())
        said.add(str(raised.value))
    assert len(said) == 1


async def test_http_is_refused_before_anybody_is_asked(pictures, resolver):
    resolve = resolver({NAME: ["1.1.1.1"]})
    with pytest.raises(BadPicture, match="must be an https address"):
        await pictures(resolve, allowed=("other.example",)).inline(
            asking(f"http://{NAME}/a"), soon()
        )
    assert resolve.asked == []


async def test_a_host_that_is_allowed_by_name(host, pictures, resolver):
    resolve = resolver({NAME: ["127.0.0.1"]})
    async with host(SAYS) as it:
        url = f"http://{NAME}:{it.port}/a"
        assert await pictures(resolve, allowed=(NAME,)).inline(asking(url), soon())
        with pytest.raises(BadPicture, match="must be an https address"):
            own = pictures(resolve, allowed=(NAME,))
            await own.inline(asking(f"{it.url}/a"), soon())
    assert it.paths == ["/a"]


async def test_the_next_address_where_one_does_not_answer(host, pictures, resolver):
    resolve = resolver({NAME: ["::1", "127.0.0.1"]})
    async with host(SAYS) as it:
        url = f"http://{NAME}:{it.port}/a"
        assert await pictures(resolve, allowed=(NAME,)).inline(asking(url), soon())


async def test_nobody_listens(host, pictures):
    async with host() as it:
        pass
    with pytest.raises(BadPicture, match="cannot be reached"):
        await pictures().inline(asking(f"{it.url}/a"), soon())


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("http://10.0.0.1/a", NOT_PUBLIC),
        ("https://169.254.169.254/latest/meta-data/", NOT_PUBLIC),
        ("https://[::1]/a", NOT_PUBLIC),
        ("https://2130706433/a", "no address that can be fetched from"),
        ("https://0177.0.0.1/a", "no address that can be fetched from"),
        ("https://inside.example/a", NOT_PUBLIC),
        ("//inside.example/a", NOT_PUBLIC),
        ("http://1.1.1.1/a", "must be an https address"),
        ("https://me@127.0.0.1/a", "names a user"),
        ("file:///etc/passwd", "must be an https address"),
        ("data:image/png;base64,iVBORw0KGgo=", "must be an https address"),
    ],
)
async def test_a_redirect_is_looked_at_like_any_address(host, pictures, resolver, to, said):
    resolve = resolver({"inside.example": ["192.168.1.1"]})
    async with host({"/a": moved(to)}) as it:
        with pytest.raises(BadPicture, match=said):
            await pictures(resolve).inline(asking(f"{it.url}/a"), soon())
    assert it.paths == ["/a"]


async def test_a_redirect_to_a_name_that_has_changed_its_answer(host, pictures, resolver):
    resolve = resolver({NAME: [["127.0.0.1"], ["10.0.0.1"]]})
    async with host({"/a": moved("/b"), "/b": response()}) as it:
        with pytest.raises(BadPicture, match=NOT_PUBLIC):
            await pictures(resolve).inline(asking(f"http://{NAME}:{it.port}/a"), soon())
    assert (resolve.asked, it.paths) == ([NAME, NAME], ["/a"])


async def test_a_resolver_that_does_not_answer(pictures):
    async def silent(_, __):
        await asyncio.Event().wait()

    with pytest.raises(BadPicture, match="within 0.2 s"):
        slow = pictures(silent, timeout_s=0.2)
        await slow.inline(asking(f"https://{NAME}/a"), soon())


async def test_a_handshake_that_does_not_end(host, pictures):
    async with host() as it:
        with pytest.raises(BadPicture, match="within 0.2 s"):
            url = f"https://127.0.0.1:{it.port}/a"
            await pictures(timeout_s=0.2).inline(asking(url), soon())
