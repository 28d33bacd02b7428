"""Heads and bodies, however they are cut and packed."""

from __future__ import annotations

import gzip
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.http.response import Response
from hybridge.cloud.http.unpack import Unpacker, unpacked
from hybridge.cloud.transport import Transport, Unreachable
from hybridge.core.errors import ConfigError
from hybridge.testing.replies import framed
from hybridge.testing.upstream import Upstream

TEXT = "data: 你好\n\n".encode() * 40


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {
    b"gzip": gzip.compress(TEXT, mtime=0),
    b"x-gzip": gzip.compress(TEXT[:100], mtime=0) + gzip.compress(TEXT[100:], mtime=0),
    b"deflate": zlib.compress(TEXT),
    b"Deflate": raw_deflate(TEXT),
    b"identity": TEXT,
}


def cut(data, at):
    ends = sorted({0, len(data), *(place % len(data) for place in at)})
    return [data[start:end] for start, end in pairwise(ends)]


CUTS = st.lists(st.integers(min_value=0, max_value=10_000), max_size=8)
FRAMES = {
    "length": b"content-length: %d\r\n\r\n%b" % (len(TEXT), TEXT),
    "chunked": b"Transfer-Encoding: Chunked\r\n\r\n"
    + b"".join(framed(TEXT[at : at + 100]) for at in range(0, len(TEXT), 100))
    + b"0\r\nx-trailer: t\r\n\r\n",
    "nothing": b"\r\n" + TEXT,
}


@pytest.mark.parametrize("frame", FRAMES)
@given(at=CUTS)
def test_a_response_may_be_cut_anywhere(frame, at):
    interim = b"HTTP/1.1 103 Hints\r\nx-not: this\r\n\r\n"
    whole = interim + b"HTTP/1.1 201 Yes\r\nX-One: 1\r\n" + FRAMES[frame]
    response = Response()
    for piece in cut(whole, at):
        assert not response.complete
        response.feed(piece)
    assert response.complete is response.reusable is (frame != "nothing")
    response.end()
    assert response.complete
    assert response.status == 201
    assert response.take() == TEXT
    assert response.header(b"x-one") == b"1"
    assert response.header(b"x-not") == response.header(b"x-trailer") == b""


@pytest.mark.parametrize("frame", ["length", "chunked"])
def test_a_response_that_breaks_off_is_not_complete(frame):
    response = Response()
    response.feed(b"HTTP/1.1 200 OK\r\n" + FRAMES[frame][:-3])
    response.end()
    assert not response.complete


@pytest.mark.parametrize("encoding", PACKED)
@given(at=CUTS, limit=st.integers(min_value=1, max_value=500))
def test_a_packed_body_may_be_cut_anywhere(encoding, at, limit):
    if encoding == b"identity":
        return
    unpack, got = Unpacker(limit), b""
    for piece in cut(PACKED[encoding], at):
        got += unpack.feed(piece)
        while unpack.pending:
            more = unpack.feed(b"")
            assert len(more) <= limit
            got += more
    unpack.end()
    assert got == TEXT


@pytest.mark.parametrize("encoding", PACKED)
def test_a_whole_body_is_unpacked(encoding):
    assert unpacked(PACKED[encoding], encoding, 10_000) == TEXT
    assert unpacked(b"", encoding, 10_000) == b""


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"plain", b"gzip"),
        (PACKED[b"gzip"][:-1], b"gzip"),
        (PACKED[b"gzip"] + b"more", b"gzip"),
        (PACKED[b"gzip"][:50] + b"????" + PACKED[b"gzip"][54:], b"gzip"),
        (gzip.compress(b"x" * 100_000, mtime=0), b"gzip"),
        (b"anything", b"br"),
        (PACKED[b"gzip"], b"gzip, gzip"),
    ],
    ids=["plain", "cut", "more", "damaged", "bomb", "br", "twice"],
)
def test_a_body_that_cannot_be_unpacked(body, encoding):
    with pytest.raises(Unreachable):
        unpacked(body, encoding, 10_000)


@pytest.mark.anyio
@pytest.mark.parametrize("encoding", [b"gzip", b"deflate"])
async def test_a_packed_stream_byte_by_byte(opened, soon, encoding):
    def reply(_):
        yield (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-encoding: %b\r\n\r\n"
            % encoding
        )
        for byte in PACKED[encoding]:
            yield framed(bytes([byte]))
            yield 0.0
        yield b"0\r\n\r\n"

    async with Upstream(reply) as up, opened(up.base_url) as transport:
        for _ in range(2):
            with await transport.stream("/x", b"{}", soon()) as stream:
                assert await stream.rest() == TEXT
    assert up.connections == 1


@pytest.mark.anyio
@pytest.mark.parametrize("encoding", [b"br", b"gzip"])
async def test_a_stream_that_cannot_be_unpacked(opened, soon, encoding):
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\n\r\nnonsense" % encoding
    async with Upstream(lambda _: iter([head, float("inf")])) as up:
        async with opened(up.base_url) as transport:
            with await transport.stream("/x", b"{}", soon()) as stream:
                with pytest.raises(Unreachable):
                    await stream.rest()


@pytest.mark.anyio
async def test_the_request(opened, soon):
    async with Upstream(host="::1") as up:
        async with opened(f"{up.root_url}/a b/ü/", key="k") as transport:
            await transport.post("/x", b"{}", soon())
            await transport.get("/models", soon())
    post, get = up.requests
    port = up.root_url.rpartition(":")[2]
    assert (post.target, get.target) == ("/a%20b/%C3%BC/x", "/a%20b/%C3%BC/models")
    assert post.headers == {
        "host": f"[::1]:{port}",
        "user-agent": "hybridge",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "authorization": "Bearer k",
        "content-length": "2",
    }
    assert "content-length" not in get.headers


@pytest.mark.parametrize(
    "url",
    ["", "models.invalid/v1", "ftp://models.invalid", "http://", "http://[::1", "http://a:port",
     "http://me:secret@a/v1", "http://a/v1?key=secret", "http://a/v1#secret"],
)  # fmt: skip
def test_a_base_url_that_leads_nowhere(url, opened):
    with pytest.raises(ConfigError, match="base_url") as raised:
        Transport(url, None, key=None, proxy=None)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("key", ["secret\r\nx: y", "secret ", "ключ", "secret\0"])
def test_a_key_that_no_header_can_carry(key):
    with pytest.raises(ConfigError, match="key") as raised:
        Transport("http://127.0.0.1", None, key=key, proxy=None)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://models.invalid", "models.invalid"),
        ("http://models.invalid:80", "models.invalid"),
        ("http://models.invalid:443", "models.invalid:443"),
        ("https://models.invalid:443/v1", "models.invalid"),
        ("https://MODELS.invalid:8443", "models.invalid:8443"),
        ("https://bücher.invalid", "xn--bcher-kva.invalid"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
def test_the_host_header_names_a_port_only_when_it_must(url, host):
    transport = Transport(url, None, key=None, proxy="http://127.0.0.1:9")
    assert f"host: {host}\r\n" in transport._headers
