"""The rows of the catalogue hold together."""

from __future__ import annotations

import re

import pytest

from hybridge.core.request import Feature
from hybridge.modelstore.catalogue import CATALOGUE, CatalogueModel, HubFile, PyPiParts

ROWS = pytest.mark.parametrize("model", CATALOGUE.values(), ids=lambda model: model.name)


def test_the_three_models_are_there() -> None:
    assert set(CATALOGUE) == {"qwen2.5-0.5b", "smollm2-135m", "qwen2.5-1.5b"}


@ROWS
def test_a_row_pins_one_digest_for_all_its_sources(model: CatalogueModel) -> None:
    assert re.fullmatch("[0-9a-f]{64}", model.sha256)
    assert model.size_bytes > 1_000_000
    assert model.licence == "Apache-2.0"


@ROWS
def test_the_hub_comes_first_and_names_a_commit(model: CatalogueModel) -> None:
    hub, wheels = model.sources
    assert isinstance(hub, HubFile)
    assert hub.file.endswith(".gguf")
    assert re.fullmatch("[0-9a-f]{40}", hub.revision)
    assert isinstance(wheels, PyPiParts)
    assert len(set(wheels.packages)) == len(wheels.packages) > 0


def test_parts_are_in_the_order_of_their_numbers() -> None:
    for model in CATALOGUE.values():
        for source in model.sources:
            if isinstance(source, PyPiParts) and len(source.packages) > 1:
                numbers = [int(re.findall(r"\d+$", name)[0]) for name in source.packages]
                assert numbers == list(range(1, len(numbers) + 1))


def test_only_models_that_keep_to_json_promise_it() -> None:
    able = {name for name, model in CATALOGUE.items() if Feature.JSON_SCHEMA in model.features}
    assert able == {"qwen2.5-0.5b", "qwen2.5-1.5b"}
    assert {name for name, m in CATALOGUE.items() if Feature.TOOLS in m.features} == able
    assert all(Feature.CHOICES in model.features for model in CATALOGUE.values())
