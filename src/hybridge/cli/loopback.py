"""HTTP to a gateway on this machine, never through the system's proxy."""

from __future__ import annotations

from pyqwest import HTTPTransport, Proxy


def loopback() -> HTTPTransport:
    """A transport that reaches this machine directly, whatever proxies the environment names."""
    direct = Proxy("http://127.0.0.1:9", no_proxy="127.0.0.0/8,::1,localhost")
    return HTTPTransport(tls_include_system_certs=True, proxy=direct, enable_otel=False)
