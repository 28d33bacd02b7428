"""The JSON Schema for editors."""

from __future__ import annotations

from typing import Any

from hybridge.settings.editors import json_schema
from hybridge.settings.settings import Settings


def test_every_section_may_be_empty_and_takes_no_unknown_key():
    schema = json_schema()
    assert set(schema["properties"]) == set(Settings.model_fields)
    assert schema["additionalProperties"] is False
    assert all({"type": "null"} in section["anyOf"] for section in schema["properties"].values())


def test_keys_are_described_by_their_docstrings():
    definitions = json_schema()["$defs"]
    routing = definitions["RoutingConfig"]["properties"]
    assert routing["edge_max"]["description"] == "Scores up to this one go to the edge."
    undescribed = [
        f"{name}.{key}"
        for name, definition in definitions.items()
        for key, field in definition.get("properties", {}).items()
        if "description" not in field
    ]
    assert undescribed == []


def test_a_number_may_come_from_the_environment():
    port = json_schema()["$defs"]["ServerConfig"]["properties"]["port"]
    kinds = [option["type"] for option in port["anyOf"]]
    assert kinds == ["integer", "string"]
    assert port["default"] == 8686


def test_every_reference_leads_somewhere():
    schema = json_schema()
    for reference in _references(schema):
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return own + [one for value in schema.values() for one in _references(value)]
    return (
        [one for value in schema for one in _references(value)] if isinstance(schema, list) else []
    )
