"""Texts to teach names with: what is marked is a name, and nothing that measures is taught."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from tests.extras import needed

needed("faker", "export")

from hybridge.pipeline.name_draws import Draws  # noqa: E402
from hybridge.pipeline.name_prompts import Prompts  # noqa: E402
from hybridge.pipeline.name_texts import TEMPLATES, Marked, exchanged, fill, labelled, made  # noqa: E402


@pytest.fixture(scope="module")
def draws() -> Draws:
    return Draws(random.Random(1), ("en_US", "de_DE"))


def names(marked: Marked) -> list[str]:
    return [marked.text[start:end] for start, end in marked.names]


def test_every_template_is_filled_wholly(draws: Draws) -> None:
    for template in TEMPLATES:
        filled = fill(template, draws)
        assert not re.search(r"\{[a-z]\}", filled.text), template
        assert len(filled.names) == len(re.findall(r"\{[pfl]\}", template))
        assert all(name.strip() == name != "" for name in names(filled))


def test_made_texts_hold_their_names_apart_and_the_same_seed_makes_the_same() -> None:
    one, other = (list(made(Draws(random.Random(7), ("en_GB", "fr_FR")), 20)) for _ in range(2))
    assert one == other
    for marked in one:
        assert all(a[1] <= b[0] for a, b in pairwise(marked.names))


@pytest.fixture(scope="module")
def prompts(draws: Draws) -> Prompts:
    question = "Did Jennifer Smith see the hope of Qorlax?"
    return Prompts(["Jennifer has 5 pens.", question, *["a pen of hope"] * 4], draws)


def test_prompts_mark_sure_names_and_leave_out_the_doubtful(prompts: Prompts) -> None:
    marked = prompts.mark("The Pen: Jennifer Smith and Qorlax met in Paris on Monday")
    assert names(marked) == ["Jennifer Smith"]
    assert [marked.text[a:b] for a, b in marked.unsure] == ["The", "Qorlax"]


def test_others_stand_for_the_same_throughout(prompts: Prompts) -> None:
    text = "Jennifer ate. Then Jennifer slept and Robert left."
    new = prompts.about_others(prompts.mark(text))
    first, second, third = names(new)
    assert first == second != third
    assert new.text == f"{first} ate. Then {second} slept and {third} left."


def test_an_exchange_moves_what_comes_after(draws: Draws) -> None:
    marked = Marked("Al met Xy.", ((0, 2),), ((7, 9),))
    new = exchanged(marked, lambda _old: "Alexandra")
    assert new.text == "Alexandra met Xy."
    assert [new.text[a:b] for a, b in (*new.names, *new.unsure)] == ["Alexandra", "Xy"]


def test_no_sentence_is_in_both_halves(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    sentences = ("{} met me.", "I saw {} there.", "Is {} in?", "{} lives here.", "Ask {} now.")
    with path.open("w", encoding="utf-8") as file:
        for sentence in sentences:
            for name in ("Ann", "Bo Li", "Christopher"):
                at = sentence.index("{}")
                span = {"start": at, "end": at + len(name), "type": "PERSON"}
                file.write(json.dumps({"text": sentence.format(name), "spans": [span]}) + "\n")
    halves = [list(labelled(path, half=half)) for half in (0, 1)]
    assert sum(map(len, halves)) == len(list(labelled(path))) == 15
    bare = [{one.text.replace(names(one)[0], "") for one in half} for half in halves]
    assert not bare[0] & bare[1]
    assert {name for half in halves for one in half for name in names(one)} == {
        "Ann",
        "Bo Li",
        "Christopher",
    }
