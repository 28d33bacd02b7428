"""R21: agreement of two answers, cheapest first, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning.agreement import (
    Agreement,
    Form,
    Said,
    ToolCall,
    agree,
    similarity_text,
    tool_calls,
)
from hybridge.learning.normalise import normalise
from hybridge.learning.numerals import numbers

MIN = 0.85


def compare(
    edge: str | Said, cloud: str | Said, form: Form = "text", similarity: float | None = None
) -> Agreement:
    return agree(edge, cloud, form, similarity, similarity_min=MIN)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris.", "paris"),
        ("**Paris**", "Paris"),
        ("Ｐａｒｉｓ！", "Paris"),
        ("It's  done.\n", "it's done"),
        ("你好，世界！", "你好世界"),
        ("答案是 42。", "答案是42"),
        ("1,000 people", "1000 people"),
    ],
)
def test_what_does_not_matter(one: str, other: str) -> None:
    assert compare(one, other) == Agreement(True, "exact")


@pytest.mark.parametrize(
    ("one", "other"),
    [("-5", "5"), ("3.14", "314"), ("50%", "50"), ("x > 3", "x < 3"), ("$5", "€5"), ("C++", "C")],
)
def test_signs_that_do(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_two_empty_answers_do_not_agree() -> None:
    assert not compare("", " \n").agreed


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("23 + 19 = 42", [23, 19, 42]),
        ("about 1,234,567.5", [1234567.5]),
        ("−7 度", [-7]),
        ("３６６", [366]),
        ("Forty-two.", [42]),
        ("twelve", [12]),
        ("三百二十一", [321]),
        ("十二个月", [12]),
        ("二〇二四年", [2024]),
        ("一万两千", [12000]),
        ("三亿五千万", [350000000]),
        ("There is one thing I should like to tell you about.", []),
    ],
)
def test_numbers(text: str, named: list[float]) -> None:
    assert numbers(text) == named


@pytest.mark.parametrize(
    ("edge", "cloud", "agreed"),
    [
        ("42", "23 + 19 = 42", True),
        ("23", "23 + 19 = 42", False),
        ("366", "A leap year has 366 days, one more than the usual 365.", True),
        ("365", "366", False),
        ("十二", "一年有12个月。", True),
        ("3 plus 4 is 8", "3 plus 4 is 7", False),
        ("-5", "5", False),
        ("0.50", "0.5", True),
    ],
)
def test_numbers_are_compared_as_numbers(edge: str, cloud: str, agreed: bool) -> None:
    assert compare(edge, cloud, "number", 0.99) == Agreement(agreed, "number")


@pytest.mark.parametrize(
    ("edge", "cloud", "agreed"),
    [
        ("Positive", "The sentiment is positive.", True),
        ("Positive", "Negative", False),
        ("正面", "这条评论是正面。", True),
        ("正面", "负面", False),
        ("Yes.", "Yes, a whale is a mammal, since it gives milk to its young.", True),
        ("Yes.", "No, it is not.", False),
        ("是", "是的，北京是中国的首都，也是全国的政治文化中心。", True),
        ("不是", "是的。", False),
        ("yes", "是", True),
        ("order_status", "refund", False),
    ],
)
def test_labels(edge: str, cloud: str, agreed: bool) -> None:
    assert compare(edge, cloud, "label") == Agreement(agreed, "label")


@pytest.mark.parametrize(
    ("edge", "cloud", "agreed"),
    [
        ('{"a": 1, "b": [1, 2]}', '```json\n{"b": [1.0, 2], "a": 1}\n```', True),
        ('{"a": true}', '{"a": 1}', False),
        ('{"名": "李明"}', '{"名":"李明"}', True),
        ("[1, 2]", "[2, 1]", False),
    ],
)
def test_json_is_compared_as_values(edge: str, cloud: str, agreed: bool) -> None:
    assert compare(edge, cloud, "json") == Agreement(agreed, "json")


def test_where_one_side_has_not_the_form_the_texts_are_compared() -> None:
    assert compare("no idea", '{"a": 1}', "json", 0.2) == Agreement(False, "similarity", 0.2)


def test_tool_calls_are_compared_by_name_and_arguments_in_any_order() -> None:
    weather = ToolCall("weather", '{"city": "北京", "days": 2}')
    same = ToolCall("weather", '{"days":2,"city":"北京"}')
    clock = ToolCall("clock", "{}")
    found = compare(Said("", [weather, clock]), Said("Sure.", [clock, same]), "tool_call")
    assert found == Agreement(True, "tool_call")
    assert not compare(Said("", [weather]), Said("", [clock]), "tool_call").agreed
    assert not compare(Said("", [weather]), Said("It rains."), "tool_call").agreed


def test_tool_calls_are_read_from_a_message() -> None:
    message = {
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}, {"function": {}}, "junk"],
    }
    assert tool_calls(message) == (ToolCall("f", "{}"),)
    assert tool_calls(None) == ()


@pytest.mark.parametrize(("similarity", "agreed"), [(0.85, True), (0.849, False)])
def test_similarity_decides_at_its_bound(similarity: float, agreed: bool) -> None:
    found = compare("The cat sat.", "A cat was sitting.", similarity=similarity)
    assert found == Agreement(agreed, "similarity", similarity)


def test_without_embeddings_character_ngrams_stand_in_and_say_so() -> None:
    near = compare(
        "The bridge will be closed for repairs.", "The bridge will be closed for repair!"
    )
    far = compare("桥将关闭六个月。", "今天天气很好。")
    assert (near.method, near.agreed) == ("ngrams", True)
    assert (far.method, far.agreed) == ("ngrams", False)


@given(st.text(max_size=60), st.text(max_size=60))
def test_text_similarity_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert 0 <= similarity_text(one, other) <= 1
    assert similarity_text(one, other) == pytest.approx(similarity_text(other, one))


@given(
    st.text(max_size=60), st.text(max_size=60), st.sampled_from(["text", "json", "number", "label"])
)
def test_agreeing_has_no_direction(one: str, other: str, form: Form) -> None:
    assert compare(one, other, form).agreed == compare(other, one, form).agreed
