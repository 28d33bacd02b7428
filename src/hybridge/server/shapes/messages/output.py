"""The form that an answer must have, told as the chat vocabulary tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import is_object, wrong
from hybridge.server.shapes.messages.fields import at


def read_format(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """`response_format`, from `output_config.format` or its older place; None if free.

    Strict, for Anthropic promises an answer that fits its schema. Raises `RequestError`.
    """
    config, older = said.get("output_config") or {}, said.get("output_format")
    only(config, ("format", "effort"), "output_config")
    wanted = config.get("format")
    if wanted is None:
        return None if older is None else _schema(older, "output_format")
    if older is not None:
        raise unsupported("output_format", "cannot be given together with `output_config.format`")
    return _schema(wanted, "output_config.format")


def _schema(form: Any, where: str) -> dict[str, Any]:
    if not is_object(form):
        raise wrong(where, "an object", form)
    if form.get("type") != "json_schema":
        raise wrong(at(where, "type"), "json_schema", form.get("type"))
    only(form, ("type", "schema"), where)
    schema = form.get("schema")
    if not is_object(schema):
        raise wrong(at(where, "schema"), "an object", schema)
    named = {"name": "answer", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": named}
