"""The document describes what is there: every path, and every field that is read."""

from __future__ import annotations

import msgspec
import pytest

from hybridge.server.embeddings import FORMS as EMBEDDINGS
from hybridge.server.openapi.document import document
from hybridge.server.shapes.chat.fields import FIELDS as CHAT
from hybridge.server.shapes.completions.request import FIELDS as COMPLETIONS
from hybridge.server.shapes.messages.fields import FIELDS as MESSAGES
from hybridge.server.shapes.responses.fields import FIELDS as RESPONSES

pytestmark = pytest.mark.anyio
UNDESCRIBED = {"/openapi.json"}


async def test_it_is_served_without_a_key(opened):
    async with opened(keys={"team": "k"}) as door:
        got = await door.ask("/openapi.json", method="GET")
    assert got.status == 200
    assert got.json["openapi"].startswith("3.1")


async def test_it_has_every_path_with_its_methods_and_no_other(opened):
    async with opened() as door:
        told = (await door.ask("/openapi.json", method="GET")).json["paths"]
        served = {path: set(place.methods) for path, place in door.app.routes.places.items()}
    described = {
        path: {name.upper() for name in item if name != "parameters"} for path, item in told.items()
    }
    assert described == {
        path: methods for path, methods in served.items() if path not in UNDESCRIBED
    }


def test_every_reference_leads_somewhere():
    told = msgspec.json.decode(document())
    known = told["components"]["schemas"]

    def walk(node):
        if isinstance(node, dict):
            if "$ref" in node:
                assert node["$ref"].rpartition("/")[2] in known
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(told)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("ChatRequest", {*CHAT, "messages"}),
        ("CompletionRequest", COMPLETIONS),
        ("MessageRequest", MESSAGES),
        ("CountRequest", MESSAGES),
        ("ResponseRequest", RESPONSES),
        ("EmbeddingRequest", {*EMBEDDINGS, "input"}),
    ],
)
def test_every_field_that_is_read_is_described(name, fields):
    described = msgspec.json.decode(document())["components"]["schemas"][name]
    assert set(described["properties"]) == set(fields)
    assert set(described["required"]) <= set(fields)
