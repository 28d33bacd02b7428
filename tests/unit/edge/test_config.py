"""Rows of `edge.backends`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from hybridge.edge.config import EdgeBackendConfig


def test_a_model_in_this_process_has_features_to_be_named() -> None:
    row = EdgeBackendConfig(name="e", model="m.gguf", features=["tools", "json"])
    assert row.features == ["tools", "json"]
    assert EdgeBackendConfig(name="e", model="m.gguf").features is None


def test_it_has_none_that_its_engine_lacks() -> None:
    with pytest.raises(ValidationError, match=r"cannot do images, odd; it can do choices, json"):
        EdgeBackendConfig(name="e", model="m.gguf", features=["odd", "images", "tools"])
    server = {"name": "e", "engine": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m"}
    assert EdgeBackendConfig(**server, features=["images"]).features == ["images"]


def test_a_folder_is_wanted_where_the_engine_has_no_use_for_a_file() -> None:
    row = {"name": "e", "engine": "ortgenai", "model": "models/qwen-int4"}
    assert EdgeBackendConfig(**row, features=["json_schema"]).engine == "ortgenai"
    with pytest.raises(ValidationError, match=r"model: .* wants a folder .* not a \.gguf"):
        EdgeBackendConfig(**row | {"model": "qwen.gguf"})
    with pytest.raises(ValidationError, match="`ortgenai` cannot do images"):
        EdgeBackendConfig(**row, features=["images"])
