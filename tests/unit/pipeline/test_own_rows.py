"""The operator's own comparisons: every accepted form, and a clear word about any other."""

from __future__ import annotations

import pytest

from hybridge.core.errors import ConfigError
from hybridge.pipeline.own_rows import of_pair, rows


@pytest.mark.parametrize(
    ("line", "gain"),
    [
        ('{"prompt": "a", "agreed": true}', 0.0),
        ('{"prompt": "a", "agreed": false}', 1.0),
        ('{"prompt": "a", "edge_score": 0.25, "cloud_score": 1}', 0.75),
        ('{"prompt": "a", "weak_score": 1, "strong_score": 0}', -1.0),
    ],
)
def test_what_is_accepted(line, gain):
    (row,) = rows([line, "", "\n"], "own.jsonl")
    assert row.gain == gain
    assert row.failed == max(0.0, gain)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "own.jsonl:2: no JSON object"),
        ("[]", "own.jsonl:2: no JSON object"),
        ('{"agreed": true}', "own.jsonl:2: prompt: a string is needed"),
        ('{"prompt": "a"}', "own.jsonl:2: either agreed"),
        ('{"prompt": "a", "agreed": 1}', "own.jsonl:2: either agreed"),
        ('{"prompt": "a", "edge_score": 0.5}', "own.jsonl:2: cloud_score: a number from 0 to 1"),
        ('{"prompt": "a", "edge_score": true, "cloud_score": 1}', "edge_score: a number"),
        ('{"prompt": "a", "weak_score": 7, "strong_score": 1}', "weak_score: a number"),
    ],
)
def test_what_is_not_is_named_with_its_line(line, said):
    with pytest.raises(ConfigError, match=said):
        rows(['{"prompt": "a", "agreed": true}', line], "own.jsonl")


def test_an_adapter_is_for_one_pair():
    lines = [
        f'{{"prompt": "a", "agreed": true, "edge_model": "{edge}", "cloud_model": "gpt"}}'
        for edge in ("qwen", "smol")
    ]
    found = rows(lines, "own.jsonl")
    with pytest.raises(ConfigError, match=r"2 pairs .*qwen and gpt; smol and gpt.* --edge"):
        of_pair(found, None, None)
    assert len(of_pair(found, "qwen", None)) == 1
    with pytest.raises(ConfigError, match="no comparisons of these"):
        of_pair(found, "qwen", "claude")
