"""R72, B49: who gets in."""

from __future__ import annotations

import pytest

from hybridge.core.errors import Unauthorized
from hybridge.server.auth import Keys

KEYS = Keys({"a": "key-of-a", "b": "schlüssel-密钥"})


@pytest.mark.parametrize(
    ("headers", "tenant"),
    [
        ({b"authorization": b"Bearer key-of-a"}, "a"),
        ({b"authorization": b"bearer  key-of-a "}, "a"),
        ({b"x-api-key": b"key-of-a"}, "a"),
        ({b"authorization": "Bearer schlüssel-密钥".encode()}, "b"),
        ({b"authorization": b"Basic abc", b"x-api-key": b"key-of-a"}, "a"),
    ],
)
def test_a_known_key_names_its_tenant(headers, tenant):
    assert KEYS.tenant(headers) == tenant


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"key-of-",
        b"key-of-aa",
        b"KEY-OF-A",
        b"\xff\xfe\x00",
        b"k" * 10_240,
        "密".encode("gb18030"),
    ],
)
def test_an_unknown_key_is_refused_without_a_word_about_it(key):
    with pytest.raises(Unauthorized) as caught:
        KEYS.tenant({b"authorization": b"Bearer " + key})
    assert caught.value.message == "the API key is not known here"


@pytest.mark.parametrize("headers", [{}, {b"authorization": b"key-of-a"}, {b"authorization": b""}])
def test_no_key_at_all(headers):
    with pytest.raises(Unauthorized):
        KEYS.tenant(headers)


def test_without_keys_everybody_is_anonymous():
    assert Keys({}).tenant({b"authorization": b"Bearer x"}) == "anonymous"


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/route", "/v1/models"])
async def test_over_http(opened, chat, path):
    method = "GET" if path == "/v1/models" else "POST"
    body = None if method == "GET" else chat()
    async with opened(keys={"a": "key-of-a"}) as door:

        async def ask(value: str | None):
            headers = {} if value is None else {"authorization": value}
            return await door.ask(path, body, method=method, headers=headers)

        refused = [
            await ask(v) for v in (None, "Bearer nope", "Bearer ключ", "Bearer " + "k" * 10_240)
        ]
        let_in = await ask("Bearer key-of-a")
    assert [got.status for got in refused] == [401] * 4
    assert all(got.json["error"]["code"] == "invalid_api_key" for got in refused)
    assert refused[0].headers["www-authenticate"] == "Bearer"
    assert let_in.status == 200
    tenants = {visit.request.tenant for visit in door.gateway.visits}
    assert tenants == (set() if method == "GET" else {"a"})
