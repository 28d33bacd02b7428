"""How URLs are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.pictures.config import PicturesConfig
from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.location import MOST_CHARACTERS, location, redirected


@pytest.mark.parametrize(
    ("url", "authority", "target"),
    [
        ("https://example.com", "example.com", "/"),
        ("HTTPS://Example.COM./a/", "example.com", "/a/"),
        ("https://example.com:443/a.png#part", "example.com", "/a.png"),
        ("https://example.com:8443/a%20b.png?x=%E7%8C%AB&y", "example.com:8443", "/a%20b.png?x=%E7%8C%AB&y"),
        ("https://example.com/a b/猫.png?q=猫", "example.com", "/a%20b/%E7%8C%AB.png?q=%E7%8C%AB"),
        ("http://example.com:443/", "example.com:443", "/"),
        ("https://bücher.example/", "xn--bcher-kva.example", "/"),
        ("https://例え。example/", "xn--r8jz45g.example", "/"),
        ("https://my_bucket.example/", "my_bucket.example", "/"),
        ("https://[2606:4700:0:0::1]:8443/", "[2606:4700::1]:8443", "/"),
        ("https://1.1.1.1/", "1.1.1.1", "/"),
        ("https://example.com?x=1", "example.com", "/?x=1"),
    ],
)  # fmt: skip
def test_what_a_server_hears(url, authority, target):
    there = location(url)
    assert (there.address.authority, there.target) == (authority, target)


@pytest.mark.parametrize(
    "url",
    [
        *("", "a.png", "//example.com/a.png", "file:///etc/passwd", "ftp://example.com/a.png"),
        *("gopher://example.com:70/_x", "javascript:alert(1)", "https://", "https:///a.png"),
        *("https://user@example.com/", "https://user:key@example.com/", "https://@example.com/"),
        *("https://a..example/", "https://.example/", "https://example.com../", "https://-%41/"),
        *("https://exa mple.com/", "https://example.com:0/", "https://example.com:65536/"),
        *("https://example.com:x/", "https://[::1", "https://[example.com]/", "https://[v1.a]/"),
        *("https://example.com/\r\nx: y", "https://exa\tmple.com/", "https://example.com/\x00"),
        *("https://example.com\\@other.example/", "https://exam℀ple.com/", "https://a/\ud800"),
        *(f"https://{'a' * 64}.example/", f"https://{'a.' * 127}a/", "https://%31.example/"),
        *("https://[2606:4700::1%25eth0]/", "https://[2606:4700::1%eth0]/", "https://[::1]x/"),
        *("https://x[::1]/", "https://[::1]:x/"),
        f"https://example.com/{'a' * MOST_CHARACTERS}",
    ],
)
def test_what_is_no_address(url):
    with pytest.raises(BadPicture):
        location(url)


@given(st.text(max_size=40), st.sampled_from(["", "https://", "https://example.com/", "http://["]))
def test_whatever_is_written_is_read_or_refused(text, before):
    try:
        there = location(before + text)
    except BadPicture:
        return
    line = f"GET {there.target} HTTP/1.1\r\nhost: {there.address.authority}"
    assert line.isascii()
    assert len(line.split("\r\n")) == 2
    assert line.count(" ") == 3
    assert there.address.user is None


@pytest.mark.parametrize(
    ("to", "url"),
    [
        (b"/b.png", "https://example.com:8443/b.png"),
        (b"b.png?x", "https://example.com:8443/a/b.png?x"),
        (b"//other.example/b", "https://other.example/b"),
        (b"http://other.example/", "http://other.example/"),
        ("/猫".encode(), "https://example.com:8443/猫"),
    ],
)
def test_where_a_redirect_leads(to, url):
    assert redirected(location("https://example.com:8443/a/a.png"), to).url == url


@pytest.mark.parametrize("to", [b"data:image/png;base64,AAAA", b"file:///x", b"\xff", b"https://["])
def test_redirects_to_what_is_no_address(to):
    with pytest.raises(BadPicture):
        redirected(location("https://example.com/a.png"), to)


@pytest.mark.parametrize(
    "entry", ["10.1.2.3/8", "127.1", "example.com:80", "https://x", "*.example.com", "", "a b"]
)
def test_what_cannot_be_allowed(entry):
    with pytest.raises(ValueError, match="is no network|neither"):
        PicturesConfig(allowed=(entry,))
