"""Whose certificates are believed."""

from __future__ import annotations

import os
import ssl
import sys


def system_trust() -> ssl.SSLContext:
    """Verifies against the system's store, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name.

    The store of macOS and of Windows is no file, and is asked through truststore; so are Linuxes
    that keep it where OpenSSL does not look. Elsewhere OpenSSL reads it here, once: truststore
    would read it again for every connection, 30 ms in which the event loop stands still.
    """
    context = ssl.create_default_context() if _openssl_has_it() else _truststore()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _openssl_has_it() -> bool:
    paths = ssl.get_default_verify_paths()
    if paths.openssl_cafile_env in os.environ or paths.openssl_capath_env in os.environ:
        return True
    return sys.platform not in ("darwin", "win32") and bool(paths.cafile or paths.capath)


def _truststore() -> ssl.SSLContext:
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
