"""Pictures as a host gives them."""

from __future__ import annotations

import asyncio
import base64
import copy
import gzip
import tracemalloc
import zlib
from contextlib import suppress

import pytest
from tests.unit.cloud.pictures.scene import PNG, asking, moved, response, soon, urls_in

from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.pictures import AT_ONCE

pytestmark = pytest.mark.anyio
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"x" * 50
WEBP = b"RIFF\x24\x00\x00\x00WEBPVP8 " + b"x" * 50
GIF = b"GIF89a" + b"x" * 50
MIB = 1 << 20
FIELD = "messages[0].content[1].image_url.url"


def data(picture: bytes = PNG, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(picture).decode()}"


@pytest.fixture
def fails(host, pictures):
    """The error for a host that says this, whatever the field."""

    async def ask(says, path="/a.png", **config):
        async with host({"/a.png": says}) as it:
            with pytest.raises(BadPicture) as raised:
                await pictures(**config).inline(asking(it.url + path), soon())
        assert raised.value.param == FIELD
        assert str(raised.value).startswith(f"`{FIELD}` ")
        assert it.url not in str(raised.value)
        return raised.value.what

    return ask


@pytest.mark.parametrize(
    ("picture", "kind"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp"), (GIF, "image/gif")],
)
@pytest.mark.parametrize("size", [0, 1, 2])
async def test_a_picture_becomes_its_data_uri(host, pictures, picture, kind, size):
    picture += b"x" * size
    async with host({"/a": response(picture, kind)}) as it:
        made = await pictures().inline(asking(f"{it.url}/a"), soon())
    assert urls_in(made) == [data(picture, kind)]


async def test_the_bodys_owner_sees_no_change(host, pictures):
    async with host({"/a": response()}) as it:
        body = asking(f"{it.url}/a", data(GIF, "image/gif"))
        body["messages"][0]["content"][1]["image_url"]["detail"] = "high"
        before = copy.deepcopy(body)
        made = await pictures().inline(body, soon())
    assert body == before
    assert made["messages"][0]["content"][1]["image_url"] == {"url": data(), "detail": "high"}
    assert urls_in(made)[1] is urls_in(body)[1]


async def test_nothing_is_fetched_where_nothing_lies_elsewhere(pictures, resolver):
    resolve = resolver({})
    body = asking(data())
    assert await pictures(resolve).inline(body, soon()) == body
    assert resolve.asked == []


async def test_a_host_hears_what_it_must_and_no_more(host, pictures):
    async with host({"/a%20b?x=1": response()}) as it:
        await pictures().inline(asking(f"{it.url}/a b?x=1"), soon())
    (head,) = it.heads
    assert head.split("\r\n") == [
        "GET /a%20b?x=1 HTTP/1.1",
        f"host: 127.0.0.1:{it.port}",
        "user-agent: hybridge",
        "accept: image/png, image/jpeg, image/webp, image/gif",
        "accept-encoding: identity",
        "connection: close",
        *("", ""),
    ]


@pytest.mark.parametrize("kind", ["image/jpeg", "IMAGE/PNG; charset=x", "image/jpg"])
async def test_the_bytes_say_which_type_it_is(host, pictures, kind):
    async with host({"/a": response(PNG, kind)}) as it:
        assert urls_in(await pictures().inline(asking(f"{it.url}/a"), soon())) == [data()]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("text/html", "is served as `text/html`"),
        ("image/svg+xml", "is served as `image/svg+xml`"),
        ("application/octet-stream", "is served as `application/octet-stream`"),
        (f"{'x' * 99}\xff", f"is served as `{'x' * 40}`"),
        ("", "is served without a type"),
        (None, "is served without a type"),
    ],
)
async def test_what_is_not_served_as_a_picture(fails, kind, said):
    assert said in await fails(response(PNG, kind))


@pytest.mark.parametrize("body", [b"", b"<svg>", b"GIF87", b"RIFF\x24\x00\x00\x00WAVE", PNG[:7]])
async def test_what_holds_no_picture(fails, body):
    assert "holds no picture that its bytes show" in await fails(response(body))


@pytest.mark.parametrize("status", ["404 Not Found", "206 Partial", "500 Oh", "304 Not Modified"])
async def test_no_other_answer_is_good(fails, status):
    assert f"its server answers {status[:3]}" in await fails(response(status=status))


@pytest.mark.parametrize("length", [-1, None], ids=["announced", "until it hangs up"])
async def test_a_picture_may_be_as_large_as_the_limit(host, pictures, length):
    whole = PNG + b"x" * (MIB - len(PNG))
    async with host({"/a": response(whole, length=length)}) as it:
        made = await pictures(picture_mib=1).inline(asking(f"{it.url}/a"), soon())
    assert urls_in(made) == [data(whole)]


async def test_an_announced_size_is_believed_before_a_byte_came(fails, host):
    async def announces(reader, writer):
        writer.write(response(PNG, length=MIB + 1))
        await reader.read()

    assert "larger than 1 MiB" in await fails(announces, picture_mib=1)


async def test_a_size_that_nobody_announced_is_counted(fails):
    said = await fails(response(PNG + b"x" * MIB, length=None), picture_mib=1)
    assert "larger than 1 MiB" in said


async def test_an_endless_body_ends(fails):
    async def goes_on(_, writer):
        writer.write(response(b"", length=None, transfer_encoding="chunked"))
        while True:
            writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            await writer.drain()

    assert "larger than 1 MiB" in await fails(goes_on, picture_mib=1)


async def test_less_than_announced_is_no_picture(fails):
    assert "its server hung up" in await fails(response(length=len(PNG) + 1))


async def test_what_lies_behind_the_announced_end_is_not_read(host, pictures):
    async with host({"/a": response(PNG + b"x" * 100, length=len(PNG))}) as it:
        assert urls_in(await pictures().inline(asking(f"{it.url}/a"), soon())) == [data()]


async def test_a_packed_picture_is_unpacked(host, pictures):
    says = response(gzip.compress(PNG), content_encoding="gzip")
    async with host({"/a": says}) as it:
        assert urls_in(await pictures().inline(asking(f"{it.url}/a"), soon())) == [data()]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_bomb_is_counted_while_it_is_unpacked(fails, encoding):
    bomb = (gzip if encoding == "gzip" else zlib).compress(PNG + bytes(32 * MIB))
    tracemalloc.start()
    try:
        said = await fails(response(bomb, content_encoding=encoding), picture_mib=1)
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()
    assert "larger than 1 MiB" in said


async def test_a_packing_that_nobody_knows(fails):
    assert "not asked for" in await fails(response(content_encoding="br"))


@pytest.mark.parametrize("says", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200"])
async def test_what_is_no_http(fails, says):
    assert "could not be fetched: its server" in await fails(says)


async def test_a_head_without_end(fails):
    async def goes_on(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"x: y\r\n" * 1000)
            await writer.drain()

    assert "a head that is too large" in await fails(goes_on)


async def test_all_pictures_of_a_request_share_a_limit(host, pictures):
    large = response(PNG + b"x" * (MIB // 2))
    says = {"/a": large, "/b": large}
    async with host(says) as it:
        for urls in ([f"{it.url}/a", f"{it.url}/b"], [f"{it.url}/a"] * 2):
            with pytest.raises(BadPicture, match="larger than 1 MiB together") as raised:
                await pictures(request_mib=1).inline(asking(*urls), soon())
            assert raised.value.param.startswith("messages[0].content[")
        assert await pictures(request_mib=1).inline(asking(f"{it.url}/a"), soon())


async def test_too_many_addresses_are_not_fetched(host, pictures):
    async with host() as it:
        body = asking(*(f"{it.url}/{i}" for i in range(3)))
        with pytest.raises(BadPicture, match="pictures at more than 2 addresses") as raised:
            await pictures(most=2).inline(body, soon())
    assert raised.value.param == "messages"
    assert it.connections == 0


async def test_twenty_pictures_at_once(host, pictures):
    full, inside, most = asyncio.Event(), 0, 0

    async def together(_, writer):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        if inside == AT_ONCE:
            full.set()
        await full.wait()
        await asyncio.sleep(0.1)  # a ninth would come in meanwhile
        inside -= 1
        writer.write(response())

    paths = [f"/{i}" for i in range(20)]
    async with host(dict.fromkeys(paths, together)) as it:
        urls = [it.url + path for path in paths]
        made = await pictures().inline(asking(*urls, *urls), soon())
    assert urls_in(made) == [data()] * 40
    assert sorted(it.paths) == sorted(paths)
    assert most == AT_ONCE


async def test_one_that_fails_ends_the_others(host, pictures):
    async with host() as it:

        async def fails_late(_, writer):
            while it.connections < 2:
                await asyncio.sleep(0.01)
            writer.write(response(b"", status="404 Not Found"))

        it.says |= {"/a": it.waits, "/b": fails_late}
        with pytest.raises(BadPicture, match="answers 404") as raised:
            await pictures().inline(asking(f"{it.url}/a", f"{it.url}/b"), soon())
        await it.hung_up.wait()
    assert raised.value.param == "messages[0].content[2].image_url.url"


@pytest.mark.parametrize("begun", [b"", response(length=None)[:-1]], ids=["silent", "half"])
async def test_a_slow_host_is_left(host, pictures, begun):
    async with host() as it:

        async def slow(reader, writer):
            writer.write(begun)
            await it.waits(reader)

        it.says["/a"] = slow
        for limits, within_s, said in [
            ({"timeout_s": 0.2}, 3600.0, "within 0.2 s"),
            ({"timeout_s": 3600.0}, 0.2, "before the request's time was up"),
        ]:
            it.hung_up.clear()
            with pytest.raises(BadPicture, match=f"could not be fetched {said}") as raised:
                await pictures(**limits).inline(asking(f"{it.url}/a"), soon(within_s))
            await it.hung_up.wait()
            assert raised.value.param == FIELD


async def test_no_time_left_is_no_time_to_fetch(host, pictures):
    async with host({"/a": response()}) as it:
        with pytest.raises(BadPicture, match="before the request's time was up"):
            await pictures().inline(asking(f"{it.url}/a"), soon(0.0))
    assert it.heads == []


async def test_who_stops_waiting_stops_the_fetching(host, pictures):
    begun = asyncio.Event()
    async with host() as it:

        async def half(reader, writer):
            writer.write(response(length=None)[:-1])
            begun.set()
            await it.waits(reader)

        it.says["/a"] = half
        task = asyncio.create_task(pictures().inline(asking(f"{it.url}/a"), soon()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await it.hung_up.wait()


@pytest.mark.parametrize(
    "says", [moved("/b"), response(status="404 x"), response(kind="text/html"), response(length=1)]
)
async def test_a_host_that_keeps_its_connections_is_left_too(host, pictures, says):
    async with host() as it:

        async def keeps(reader, writer):
            writer.write(says)
            await it.waits(reader)

        it.says |= {"/a": keeps, "/b": response()}
        with suppress(BadPicture):
            await pictures().inline(asking(f"{it.url}/a"), soon())
        await it.hung_up.wait()


async def test_the_first_of_several_places_is_named(host, pictures):
    async with host({"/b": response()}) as it:
        with pytest.raises(BadPicture) as raised:
            body = asking(f"{it.url}/b", f"{it.url}/a", f"{it.url}/a")
            await pictures().inline(body, soon())
    assert raised.value.param == "messages[0].content[2].image_url.url"


@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x"])
async def test_a_redirect_is_followed_with_nothing_in_hand(host, pictures, status):
    async with host({"/a": moved("b?x=1", status), "/b?x=1": response()}) as it:
        assert urls_in(await pictures().inline(asking(f"{it.url}/a"), soon())) == [data()]
    assert it.paths == ["/a", "/b?x=1"]
    first, second = (head.split("\r\n", 1)[1] for head in it.heads)
    assert first == second


async def test_three_redirects_and_no_more(host, pictures, fails):
    says = {f"/{i}": moved(f"/{i + 1}") for i in range(4)} | {"/4": response()}
    async with host(says) as it:
        assert urls_in(await pictures().inline(asking(f"{it.url}/1"), soon())) == [data()]
        with pytest.raises(BadPicture, match="redirects more than 3 times"):
            await pictures().inline(asking(f"{it.url}/0"), soon())
    assert "redirects more than 3 times" in await fails(moved("/a.png"))
    assert "redirects more than 3 times" in await fails(moved(""))
