"""No address that is not public is fetched from, however it is spelled."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.cloud.http.address import Address
from hybridge.cloud.pictures.dial import check
from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.location import location
from hybridge.cloud.pictures.networks import Allowed, is_public

# The tables of RFC 6890 (2.2.2, 2.2.3), and what was added to IANA's registries since.
NOT_PUBLIC_4 = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.2.0/24", "192.88.99.0/24"),
    *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
]
NOT_PUBLIC_6 = [
    *("::1/128", "::/128", "64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0/96", "100::/64"),
    *("100:0:0:1::/64", "2001::/23", "2001::/32", "2001:2::/48", "2001:db8::/32"),
    *("2001:10::/28", "2001:20::/28", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7"),
    *("fe80::/10", "fec0::/10", "ff00::/8"),
]
METADATA = [
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    *("fd00:ec2::254", "fd20:ce::254", "169.254.0.23"),
]
PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.215.14", "172.15.255.255", "172.32.0.0", "100.128.0.0"),
    *("223.255.255.255", "168.63.129.17", "2606:4700:4700::1111", "2001:4860:4860::8888"),
    *("2a00:1450:4001:81b::200e", "2400:cb00:2048:1::c629:d7a2"),
]


def within(networks):
    """An address of one of them; each network's first and last come up often."""

    def one(text):
        network = ip_network(text)
        first, last = int(network[0]), int(network[-1])
        number = st.one_of(st.sampled_from([first, last]), st.integers(first, last))
        return number.map(IPv4Address if network.version == 4 else IPv6Address)

    return st.sampled_from(networks).flatmap(one)


bad_4, bad_6 = within(NOT_PUBLIC_4), within(NOT_PUBLIC_6)
good = st.sampled_from(PUBLIC).map(ip_address)


def spellings(address: IPv4Address) -> list[str]:
    """All ways in which some resolver or browser reads this address."""
    number, parts = int(address), str(address).split(".")
    a, b, c, d = map(int, parts)
    octal = [f"0{int(p):o}" for p in parts]
    plain = ".".join(parts)
    wide = plain.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789"})
    return [
        *(plain, f"{plain}.", wide, plain.replace(".", "。"), wide.replace(".", "．")),
        *(str(number), f"{number:#x}", f"{number:#X}", f"0{number:o}", f"{number}."),
        *(f"{a}.{number & 0xFFFFFF}", f"{a}.{b}.{number & 0xFFFF}", f"{a:#x}.{b}.{c}.{d}"),
        *(".".join(octal), ".".join(f"{int(p):#04x}" for p in parts), f"{plain}%2e"),
        *(f"00{plain}", plain.replace(".", "%2E"), "".join(f"%{ord(c):02x}" for c in plain)),
        *(f"[::ffff:{plain}]", f"[::{plain}]", f"[64:ff9b::{plain}]", f"[::ffff:0:{plain}]"),
        *(f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]", f"[::ffff:{plain}%25eth0]"),
        *(f"[2001:0:{number >> 16:x}:{number & 0xFFFF:x}::1]", f"[v1.{plain}]", f"{plain}:80@x"),
        *(f"x@{plain}", f"{plain}\\@example.com", f"example.com@{plain}", f"{plain}#@example.com"),
    ]  # fmt: skip


def refused(url: str) -> bool:
    """Whether a URL is refused before a connection could be made, its host being an address."""
    try:
        there = location(url)
        check(there.address, [ip_address(there.address.host)], Allowed())
    except BadPicture:
        return True
    return False


@given(st.one_of(bad_4, bad_6))
def test_no_special_network_is_public(address):
    assert not is_public(address)


@given(st.integers(0, 2**32 - 1).map(IPv4Address) | st.integers(0, 2**128 - 1).map(IPv6Address))
def test_what_is_public_is_so_for_python_too(address):
    special = address.is_multicast or address.is_reserved or address.is_unspecified
    assert not is_public(address) or (address.is_global and not special)


@pytest.mark.parametrize("text", PUBLIC)
def test_ordinary_addresses_are_public(text):
    assert is_public(ip_address(text))
    host = f"[{text}]" if ":" in text else text
    assert not refused(f"https://{host}/a.png")


@pytest.mark.parametrize("text", METADATA)
def test_no_metadata_service_is_public(text):
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", ["fe80::1%eth0", "2606:4700:4700::1111%eth0"])
def test_nothing_with_a_zone_is_public(text):
    assert not is_public(ip_address(text))


@given(bad_4, st.data())
def test_no_spelling_of_an_address_gets_round(address, data):
    spelled = data.draw(st.sampled_from(spellings(address)))
    assert refused(f"https://{spelled}/a.png"), spelled


@given(bad_6)
def test_no_spelling_of_a_long_address_gets_round(address):
    for text in (address.compressed, address.exploded, address.exploded.upper()):
        assert refused(f"https://[{text}]/a.png")


@given(st.lists(good, max_size=3), st.one_of(bad_4, bad_6), st.randoms())
def test_one_address_that_is_not_public_is_one_too_many(others, address, random):
    addresses = [*others, address]
    random.shuffle(addresses)
    with pytest.raises(BadPicture, match="leads to no public address"):
        check(Address("https", "example.com", 443, ""), addresses, Allowed())


@given(st.lists(good, min_size=1, max_size=3))
def test_public_addresses_by_https_and_not_by_http(addresses):
    check(Address("https", "example.com", 443, ""), addresses, Allowed())
    with pytest.raises(BadPicture, match="must be an https address"):
        check(Address("http", "example.com", 80, ""), addresses, Allowed())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_named_host_may_be_anywhere(scheme):
    allowed = Allowed.of(["Pictures.Example."])
    check(Address(scheme, "pictures.example", 80, ""), [ip_address("10.0.0.1")], allowed)
    with pytest.raises(BadPicture):
        other = Address(scheme, "x.pictures.example", 80, "")
        check(other, [ip_address("10.0.0.1")], allowed)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_allowed_network_holds_all_of_a_hosts_addresses(scheme):
    allowed = Allowed.of(["10.1.0.0/16", "fd00::/64"])
    address = Address(scheme, "pictures.example", 80, "")
    check(address, [ip_address("10.1.2.3"), ip_address("fd00::1")], allowed)
    for outside in ("10.2.0.1", "::ffff:10.1.2.3"):
        with pytest.raises(BadPicture, match="leads to no public address"):
            check(address, [ip_address("10.1.2.3"), ip_address(outside)], allowed)


def test_a_public_address_beside_an_allowed_one_is_reached_by_https_only():
    allowed = Allowed.of(["10.1.0.0/16"])
    both = [ip_address("10.1.2.3"), ip_address("1.1.1.1")]
    check(Address("https", "pictures.example", 443, ""), both, allowed)
    with pytest.raises(BadPicture, match="must be an https address"):
        check(Address("http", "pictures.example", 80, ""), both, allowed)


def test_no_address_at_all_is_never_allowed():
    for allowed in (Allowed(), Allowed.of(["pictures.example", "0.0.0.0/0", "::/0"])):
        with pytest.raises(BadPicture, match="leads to no public address"):
            check(Address("https", "pictures.example", 443, ""), [], allowed)
