"""Near-duplicates share a group, whatever else there is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.pipeline.near_duplicates import groups

LONG = "A farmer has seventeen sheep and all but nine of them run away at night. How many are left?"


def test_small_changes_make_no_other_prompt():
    found = groups([LONG, LONG.upper(), LONG + " Explain.", LONG.replace("?", " now?"), "Hello"])
    assert found == [0, 0, 0, 0, 4]


def test_chinese_is_compared_by_characters():
    one = "请问从北京到上海坐高铁需要几个小时，票价大约是多少钱？"
    assert groups([one, one.replace("？", "。"), "请把下面的句子翻译成英文。"]) == [0, 0, 2]


def test_a_shared_template_does_not_make_prompts_alike():
    frame = (
        "Answer the following multiple choice question with one letter and nothing else please: "
    )
    words = (
        "apple",
        "stone",
        "river",
        "cloud",
        "tiger",
        "metal",
        "paper",
        "glass",
        "bread",
        "horse",
    )
    prompts = [frame + f"{a} {b} {c}?" for a in words for b in words for c in words[:2]]
    assert len(set(groups(prompts))) > 100


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=12))
def test_any_texts_have_groups_and_equals_share_one(prompts):
    found = groups([*prompts, *prompts])
    assert found[: len(prompts)] == found[len(prompts) :]
    assert groups(prompts) == groups(prompts)
