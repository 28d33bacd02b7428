"""Grammars that hold an answer to a JSON schema, or to calls of the tools that there are.

They are written in the language of llguidance, which this build of llama.cpp has inside: Lark with
JSON schemas in it (https://github.com/guidance-ai/llguidance, `docs/syntax.md`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_HEAD = "%llguidance {}"
_SPACE = r"(\n {0,16}| )?"
_TIGHT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""Where small models may write white space, some write nothing else: the engine lets any pattern
for it stand there again and again."""
_COMPOSED = frozenset(("$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if"))
"""Beside these, `properties` are not all that there may be."""
OPENINGS = ("<tool_call>", "```json", "{")
"""How a call begins; plain text never begins so where tools are offered. The first is how templates
in the manner of Hermes and Qwen ask for it, the others are what small models write all the same."""
_ANY: Mapping[str, Any] = {"type": "object"}
_MARK = "@@@"
_MOST_REPEATED = 1000


def for_schema(schema: Mapping[str, Any]) -> str:
    """An answer that is one JSON value as the schema wants it, on one line."""
    return "\n".join((_HEAD, "start: answer", f"answer: {_embedded(schema)}", ""))


def for_tools(
    tools: Sequence[Mapping[str, Any]],
    *,
    must_call: bool,
    several: bool,
    schema: Mapping[str, Any] | None = None,
    loose: bool = False,
) -> str:
    """Calls of these functions, or, unless one `must_call`, any text, or one as `schema` wants it.

    `tools` are the functions of a request. `loose` lets arguments be any object.
    """
    calls = r'call ("\n" call)*' if several else "call"
    lines = [_HEAD, f"start: {calls}" if must_call else f"start: {calls} | fenced | one | said"]
    lines.append(r'call: "<tool_call>\n" one "\n</tool_call>"')
    if not must_call:
        lines.append(r'fenced: "```json\n" one "\n```"')
        openings = "|".join(map(re.escape, OPENINGS))
        text = rf"/(?s:.*)/ & ~/\s*({openings})(?s:.*)/"
        said = f"TEXT\nTEXT: {text}" if schema is None else _embedded(schema)
        lines.append(f"said: {said}")
    lines.append("one: " + " | ".join(f"tool{i}" for i in range(len(tools))))
    for index, function in enumerate(tools):
        name = re.escape(function["name"])
        head = rf'/\{{(\n {{0,16}})?"name": ?"{name}",{_SPACE}"arguments": ?/'
        lines.append(rf"tool{index}: {head} arguments{index} /(\n {{0,16}})?\}}/")
        arguments = _ANY if loose else _arguments(function)
        lines.append(f"arguments{index}: {_embedded(arguments)}")
    return "\n".join((*lines, ""))


def tried(grammar: str) -> tuple[str, str]:
    """The grammar behind a mark that no model writes by itself, and the mark.

    llama.cpp does without a grammar that it cannot read, and does not say so: an answer that does
    not begin with the mark shows it.
    """
    marked = grammar.replace("start: ", "start: MARK marked\nmarked: ", 1)
    return f'{marked}\nMARK: "{_MARK}"\n', _MARK


def is_safe(gbnf: str) -> bool:
    """Whether a caller's own grammar repeats nothing beyond reason.

    llama.cpp unrolls repetitions, and `{5,2}` keeps it busy for ever.
    """
    for low, comma, high in re.findall(r"\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}", gbnf):
        least = int(low)
        most = int(high) if high else least
        if most > _MOST_REPEATED or (comma and high and most < least):
            return False
    return True


def _arguments(function: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters' schema. What it names is all there is, unless it says otherwise."""
    schema = function.get("parameters") or {"properties": {}}
    schema = {"type": "object", **schema}
    if "properties" in schema and not _COMPOSED & schema.keys():
        schema.setdefault("additionalProperties", False)
    return schema


def _embedded(schema: Mapping[str, Any]) -> str:
    whole = {**schema, "x-guidance": _TIGHT}
    return f"%json {json.dumps(whole, ensure_ascii=False)}"
