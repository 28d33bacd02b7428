"""What can be used and is hardly meant."""

from __future__ import annotations

import pytest

from hybridge.settings.reading import Reading
from hybridge.settings.warnings import warnings

CLOUDS = """\
edge: {backends: []}
cloud:
  backends:
    - {name: a, model: gpt-4o}
    - {name: b, model: gpt-4o-mini}
    - {name: c, model: o3}
"""
KEY = {"OPENAI_API_KEY": "sk-cloud-key"}


@pytest.fixture
def warned(tmp_path):
    def of(text: str, **environ: str) -> list[str]:
        path = tmp_path / "hybridge.yaml"
        path.write_text(text)
        reading = Reading.of(path, environ)
        found = warnings(reading, reading.settings())
        return [str(problem).replace(f"{tmp_path}/", "") for problem in found]

    return of


def test_nothing_to_say(warned):
    assert warned(CLOUDS + "routing: {fallbacks: {a: [b, c], b: [c]}}\n", **KEY) == []


def test_fallbacks_in_a_circle_are_told_once_each(warned):
    lines = warned(CLOUDS + "routing:\n  fallbacks:\n    a: [b]\n    b: [a]\n    c: [c]\n", **KEY)
    assert [line.split(" is a circle")[0] for line in lines] == [
        "hybridge.yaml:9:5: routing.fallbacks.a: a -> b -> a",
        "hybridge.yaml:11:5: routing.fallbacks.c: c -> c",
    ]


def test_a_longer_circle(warned):
    lines = warned(CLOUDS + "routing: {fallbacks: {a: [b], b: [c], c: [a]}}\n", **KEY)
    assert len(lines) == 1
    assert "a -> b -> c -> a is a circle" in lines[0]


def test_a_circle_by_a_models_name(warned):
    lines = warned(CLOUDS + "routing: {fallbacks: {gpt-4o: [b], b: [a]}}\n", **KEY)
    assert "routing.fallbacks.gpt-4o: a -> b -> a is a circle" in lines[0]


def test_a_cloud_without_a_price(warned):
    row = "    - {name: d, model: my-own, price: auto}\n"
    (line,) = warned(CLOUDS + row, **KEY)
    assert line.startswith("hybridge.yaml:7:17: cloud.backends[3].model: no price is known")
    priced = row.replace("auto", "{input_usd: 1, output_usd: 2}")
    assert warned(CLOUDS + priced, **KEY) == []


def test_a_cloud_that_is_asked_without_a_key(warned):
    lines = warned(CLOUDS)
    assert len(lines) == 3
    assert "OPENAI_API_KEY is not set: `a` is asked without a key" in lines[0]


def test_weights_that_are_not_here(warned, tmp_path):
    text = "edge: {backends: [{name: l, model: weights.gguf}]}\n"
    (line,) = warned(text)
    assert line.startswith("hybridge.yaml:1:29: edge.backends[0].model: there is no file")
    (tmp_path / "weights.gguf").touch()
    assert warned(text) == []


def test_rules_that_nobody_names(warned, tmp_path):
    rules = tmp_path / "routing_rules.json"
    rules.write_text("{}")
    (line,) = warned("edge: {backends: []}\n")
    assert "routing_rules.json is not used; name it in `routing.rules`" in line
    assert warned("edge: {backends: []}\nrouting: {rules: routing_rules.json}\n") == []
