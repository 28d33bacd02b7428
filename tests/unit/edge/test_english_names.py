"""English names without a title or a label, by the shipped model."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.edge.english_names import MODEL, REACH, WORDS, EnglishNames
from hybridge.privacy.finding import Level
from hybridge.privacy.layers import layered
from hybridge.privacy.scan import detect
from hybridge.privacy.word_traits import words


@pytest.fixture(scope="module")
def names() -> EnglishNames:
    return EnglishNames.load()


def values(names: EnglishNames, text: str) -> list[str]:
    return [text[one.start : one.end] for one in names(text, ())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please call Jennifer Walker before Monday.", ["Jennifer Walker"]),
        ("I met Sarah Johnson and her husband Tom in Paris.", ["Sarah Johnson", "Tom"]),
        ("name,email\nKaren Olsen,ko@example.org\nLuca Bianchi,lb@example.org", ["Karen Olsen", "Luca Bianchi"]),
        ("Emma has 5 apples and gives 2 of them to Liam.", ["Emma", "Liam"]),
        ("请给 Michael Brown 写一封邮件", ["Michael Brown"]),
        ("Brandon's killers were sentenced to life in prison", ["Brandon"]),
    ],
)  # fmt: skip
def test_a_bare_name_is_found(names: EnglishNames, text: str, found: list[str]) -> None:
    assert values(names, text) == found
    assert {(one.type, one.level) for one in names(text, ())} == {("PERSON", Level.LOW)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what is the capital of france?",
        "What is the capital of France?",
        "Write a Python function that sorts a list.",
        "Deploy Redis to Kubernetes with Docker on Monday.",
        "写一首关于春天的诗，不要超过一百字。",
        "SELECT * FROM Customers WHERE City = 'London';",
        "Compare the French Revolution and the Industrial Revolution.",
    ],
)
def test_other_words_are_left_alone(names: EnglishNames, text: str) -> None:
    assert values(names, text) == []


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            ["Anna Miller", "met", "\n", "\x1f", "张伟", "\ud800", "José", "a@b.cn", ". "]
        ),
        max_size=30,
    ).map(" ".join)
    | st.text(max_size=80)
)
def test_whatever_the_text_findings_lie_in_it_apart(names: EnglishNames, text: str) -> None:
    found = layered(detect, [names])(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_a_long_text_is_read_like_short_ones(names: EnglishNames) -> None:
    text = "The report of Anna Miller came to Tom Baker on Monday, who was in Paris then. " * 80
    traits = words(text).traits
    assert len(traits) > 2 * WORDS
    cut = names.chances(traits)
    for middle in (WORDS, 2 * WORDS, len(traits) - 1):
        low, high = max(0, middle - 2 * REACH), middle + 2 * REACH
        near = names.chances(traits[low:high])
        np.testing.assert_allclose(near[middle - low], cut[middle], atol=1e-5)
    assert len(values(names, text)) == 160


def test_several_threads_may_ask_at_once(names: EnglishNames) -> None:
    texts = [f"Number {number}: ask Jennifer Walker." for number in range(64)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda text: values(names, text), texts))
    assert found == [["Jennifer Walker"]] * 64


def test_the_card_is_that_of_the_model() -> None:
    card = json.loads(MODEL.with_suffix(".card.json").read_text(encoding="utf-8"))
    assert card["version"] == f"names-{hashlib.sha256(MODEL.read_bytes()).hexdigest()[:12]}"
    assert card["measured"]["gen_en"]["recall"] > 0.9
    assert card["licence"] == "Apache-2.0"
