"""HTTP/1.1 to one upstream: httptools reads it, asyncio carries it, on its own loop or uvloop.

`transport` ── `pool` ── `connection` ── `response`; `route` says where to connect and how.
"""
