"""Vectors of prompts, for training the scorer's head."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from hybridge.edge.encoder import SCORER, Encoder
from hybridge.pipeline import embed
from hybridge.pipeline.design import Table
from hybridge.pipeline.outcomes import key_of

PROMPTS = ["Why is the sky blue?", "为什么天空是蓝色的？", "It is late. " * 300 + "Why?", ""]


def test_every_prompt_has_the_vector_that_the_gateway_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "questions", list)
    with gzip.open(tmp_path / "some.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"prompt": text}) + "\n" for text in (*PROMPTS, *PROMPTS))
    out = tmp_path / "embeddings.npz"
    embed.main([str(tmp_path), "--encoder", str(SCORER), "--out", str(out)])
    texts = {key_of(text): text for text in PROMPTS}
    known = Table.of(texts | {"another": "nobody's"}, out).embeddings
    encoder = Encoder.shipped(threads=1)
    for key, text in texts.items():
        assert np.allclose(known[key], encoder.encode(text), atol=1e-3)
    encoder.close()
    assert not known["another"].any()


def test_our_own_questions_come_along(tmp_path: Path) -> None:
    assert len(embed.prompts([tmp_path])) > 6000
