"""Grammars that hold answers; whether the engine can read them is `test_llama_server`'s."""

from __future__ import annotations

import pytest

from hybridge.edge.grammar import for_tools, is_safe


@pytest.mark.parametrize(
    ("grammar", "safe"),
    [
        ('root ::= "a"', True),
        ("root ::= [a-z]{2,8} [0-9]{3}", True),
        ("root ::= [a-z]{2,}", True),
        ("root ::= [a-z]{5,2}", False),
        ("root ::= [a-z]{1,100000}", False),
        ("root ::= [a-z]{ 9999999 }", False),
    ],
)
def test_repetitions_beyond_reason(grammar: str, safe: bool) -> None:
    assert is_safe(grammar) is safe


def test_a_tool_gets_nothing_that_its_schema_does_not_name() -> None:
    def grammar(parameters: object) -> str:
        function = {"name": "f", "parameters": parameters}
        return for_tools([function], must_call=True, several=True)

    assert '"additionalProperties": false' in grammar({"properties": {"a": {}}})
    assert '"additionalProperties": false' in grammar(None)
    assert '"additionalProperties": true' in grammar(
        {"properties": {}, "additionalProperties": True}
    )
    assert "additionalProperties" not in grammar({"properties": {}, "allOf": [{"type": "object"}]})
