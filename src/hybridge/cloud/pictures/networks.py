"""Which addresses may be connected with."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Self

from msgspec import Struct

from hybridge.cloud.pictures.location import host_of

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

_GLOBAL_UNICAST = IPv6Network("2000::/3")
"""The only part of IPv6 that is handed out (RFC 4291, 2.4). Loopback, unique local, link local,
multicast, IPv4-mapped, IPv4-compatible and NAT64 addresses all lie outside it."""
_SPECIAL: tuple[IpNetwork, ...] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network (RFC 791)
            "10.0.0.0/8",  # private (RFC 1918)
            "100.64.0.0/10",  # shared, for carrier-grade NAT (RFC 6598); Alibaba's metadata
            "127.0.0.0/8",  # loopback (RFC 1122)
            "168.63.129.16/32",  # Azure's platform, which answers its own machines alone
            "169.254.0.0/16",  # link local (RFC 3927); the metadata of most clouds
            "172.16.0.0/12",  # private (RFC 1918)
            "192.0.0.0/24",  # protocol assignments (RFC 6890); Oracle's metadata
            "192.0.2.0/24",  # documentation (RFC 5737)
            "192.31.196.0/24",  # AS112 (RFC 7535)
            "192.52.193.0/24",  # automatic multicast tunnelling (RFC 7450)
            "192.88.99.0/24",  # relays of 6to4 (RFC 7526)
            "192.168.0.0/16",  # private (RFC 1918)
            "192.175.48.0/24",  # AS112 (RFC 7534)
            "198.18.0.0/15",  # benchmarks (RFC 2544)
            "198.51.100.0/24",  # documentation (RFC 5737)
            "203.0.113.0/24",  # documentation (RFC 5737)
            "224.0.0.0/4",  # multicast (RFC 5771)
            "240.0.0.0/4",  # reserved (RFC 1112), and the broadcast address
            "2001::/23",  # protocol assignments (RFC 2928): Teredo, ORCHID, benchmarks
            "2001:db8::/32",  # documentation (RFC 3849)
            "2002::/16",  # 6to4, which holds an IPv4 address (RFC 3056)
            "2620:4f:8000::/48",  # AS112 (RFC 7534)
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)
"""IANA's special-purpose registries (RFC 6890), those that are reachable from everywhere included:
no picture lies there. `ipaddress.is_global` says less, and says it differently in each Python."""


def is_public(address: IpAddress) -> bool:
    """Whether it is an ordinary address of the internet."""
    if isinstance(address, IPv6Address) and (
        address.scope_id is not None or address not in _GLOBAL_UNICAST
    ):
        return False
    return not _in_any(address, _SPECIAL)


class Allowed(Struct, frozen=True):
    """What the operator lets be fetched from although it is not public, and by http."""

    names: frozenset[str] = frozenset()
    networks: tuple[IpNetwork, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """From host names and networks as text. Raises `ValueError` for what is neither."""
        names, networks = set[str](), list[IpNetwork]()
        for entry in entries:
            try:
                networks.append(ip_network(entry))
            except ValueError:
                names.add(_name(entry))
        return cls(frozenset(names), tuple(networks))

    def may_be(self, host: str) -> bool:
        """Whether a host can turn out to be allowed once its addresses are known."""
        return bool(self.networks) or host in self.names

    def has(self, host: str, addresses: Iterable[IpAddress]) -> bool:
        """Whether a host is allowed by its name, or else by each of its addresses."""
        return host in self.names or all(_in_any(one, self.networks) for one in addresses)

    def knows(self, address: IpAddress) -> bool:
        """Whether an address lies in an allowed network."""
        return _in_any(address, self.networks)


def _in_any(address: IpAddress, networks: Iterable[IpNetwork]) -> bool:
    return any(address in network for network in networks)


def _name(entry: str) -> str:
    if "/" in entry or ":" in entry:
        raise ValueError(f"{entry!r} is no network, such as 10.1.0.0/16, and no name of a host")
    try:
        return host_of(entry)
    except ValueError as error:
        raise ValueError(f"{entry!r} is neither a host's name nor a network") from error
