"""What each check takes for right, and what it does not."""

import pytest

from hybridge.pipeline.quiz.checks import (
    SENTENCE,
    Check,
    Exact,
    Holds,
    Label,
    Listed,
    Number,
    Ratio,
    Verbatim,
    YesNo,
)

RIGHT: list[tuple[Check, str]] = [
    (Number(24), "24"),
    (Number(24), "**24**\n\nExplanation: 2 more than 22 each time, 3 times"),
    (Number(24), "The area is 24 cm²."),
    (Number(24), "面积是24cm2"),
    (Number(24), "4 * 6 = 24 m^2"),
    (Number(1234.5), "It is 1,234.5"),
    (Number(-7), "答案是−7。"),
    (Ratio(3, 4), "3/4"),
    (Ratio(3, 4), "\\(\\frac{3}{4}\\)"),
    (Ratio(3, 4), "1/2 + 1/4 = 3/4."),
    (Ratio(5, 1), "5"),
    (Verbatim("Red Car"), '"Red Car"'),
    (Verbatim("Red Car"), "The answer is: Red Car."),
    (Verbatim("RED"), "大写是RED。"),
    (Verbatim("三百零五"), "305写作三百零五。"),
    (Label("不是", ("是",), ("否", "不能")), "不能"),
    (Label("不是", ("是",), ("否", "不能")), "否"),
    (Listed(("3", "5", "7")), "3、5、7"),
    (Listed(("3", "5", "7")), "3 5 7"),
    (Listed(("3", "5", "7")), "3 < 5 < 7"),
    (Listed(("3", "5", "7")), "[3, 5, 7]"),
    (Listed(("3", "5", "7")), "Sorted list: 3, 5, 7."),
    (Listed(("3", "5", "7")), "The numbers in order are 3, 5, 7."),
    (Exact(("R",)), "The answer is R."),
    (Listed(("3", "5", "7")), "1. 3\n2. 5\n3. 7"),
    (Listed(("3", "5", "7")), "```\n3, 5, 7\n```"),
    (Listed(("1.5", "2.5")), "1.5\n2.5"),
    (Listed(("-4", "0", "7")), "-4, 0, 7"),
    (
        Holds(("Quito",), room=SENTENCE),
        "The capital is Quito, a city high up in the mountains of the north.",
    ),
    (YesNo(yes=True), "是的"),
    (YesNo(yes=False), "Yes or no? No."),
    (Label("negative", ("positive", "neutral")), "Negative, not positive or neutral."),
    (Label("yes", ("no", "not")), "Yes, no doubt about it."),
]
WRONG: list[tuple[Check, str]] = [
    (Number(2), "24 cm2"),
    (Number(24), "24 + 3 = 27"),
    (Number(24), "none"),
    (Ratio(3, 4), "6/8"),
    (Ratio(3, 4), "1 3/4"),
    (Ratio(3, 4), "3/4 of 8 is 6"),
    (Ratio(3, 4), "no idea"),
    (Verbatim("Red Car"), "red car"),
    (Verbatim("RED"), "REDS"),
    (Verbatim("三百"), "一千三百零五"),
    (Verbatim("RED"), "RED " + "because " * 20),
    (Label("是", ("不是",), ("对",)), "不是"),
    (Listed(("3", "5", "7")), "3, 7, 5"),
    (Listed(("3", "5", "7")), "3 5"),
    (Listed(("5", "7")), "3、5、7"),
    (
        Holds(("Quito",)),
        "Quito, " + "or else one of the other cities of the country, which has many, " * 2,
    ),
    (YesNo(yes=True), "请回答“是”或“否”"),
    (YesNo(yes=True), "请回答“是”或"),
    (YesNo(yes=True), "Please answer yes or no"),
    (Label("positive", ("negative", "neutral")), "Is this positive, negative or neutral?"),
    (Label("手", ("鞋", "脚", "耳")), "手、鞋、脚、耳"),
]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_right_answers_are_accepted(check: Check, answer: str) -> None:
    assert check.accepts(answer)


@pytest.mark.parametrize(("check", "answer"), WRONG)
def test_wrong_answers_are_refused(check: Check, answer: str) -> None:
    assert not check.accepts(answer)
