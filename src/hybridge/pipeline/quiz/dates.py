"""Days of the week, days between, dates some days away, and how a date is written."""

from __future__ import annotations

import calendar
import random
from collections.abc import Iterator
from datetime import date, timedelta

from hybridge.pipeline.quiz.checks import Holds, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import NO, YES, Wordings

KIND = "dates"
DAYS = tuple(zip(calendar.day_name, (f"星期{day}" for day in "一二三四五六日"), strict=True))
DAY_AFTER = Wordings(
    en=(
        "Today is {day}. What day of the week is it in {n} days?",
        "If today is {day}, what weekday will it be {n} days from now?",
        "What day comes {n} days after {day}?",
        "It's {day}. Which weekday is it {n} days later?",
    ),
    zh=(
        "今天是{day}，{n}天后是星期几？",
        "如果今天{day}，再过{n}天是星期几？",
        "{day}之后第{n}天是星期几？",
        "今天{day}，请问{n}天以后是星期几？",
    ),
    form="text",
)
DAY_BEFORE = Wordings(
    en=(
        "Today is {day}. What weekday was it {n} days ago?",
        "Which day of the week is {n} days before {day}?",
    ),
    zh=("今天是{day}，{n}天前是星期几？", "{day}的{n}天前是星期几？"),
)
WEEKDAY = Wordings(
    en=(
        "What day of the week is {d}?",
        "Which weekday was {d}?",
        "{d} falls on which day of the week?",
    ),
    zh=("{d}是星期几？", "请问{d}是星期几？", "查一下{d}是星期几。"),
)
BETWEEN = Wordings(
    en=(
        "How many days are there from {d} to {e}?",
        "How many days after {d} is {e}?",
        "Count the days between {d} and {e} (first day not counted).",
    ),
    zh=("从{d}到{e}相隔多少天？", "{d}之后多少天是{e}？", "{d}和{e}之间相差几天？"),
    form="number",
)
AWAY = Wordings(
    en=(
        "What date is {n} days after {d}? Use YYYY-MM-DD.",
        "Add {n} days to {d} and write the date as YYYY-MM-DD.",
        "Something takes {n} days and starts on {d}. When is it {n} days later? Format YYYY-MM-DD.",
    ),
    zh=("{d}的{n}天后是哪天？用YYYY-MM-DD格式。", "{d}加{n}天是几月几日？格式YYYY-MM-DD。"),
)
ISO = Wordings(
    en=(
        "write this date as YYYY-MM-DD",
        "convert the date to ISO format (YYYY-MM-DD)",
        "rewrite the date in the form YYYY-MM-DD",
        "put this date into ISO 8601 format",
    ),
    zh=(
        "把日期写成YYYY-MM-DD格式",
        "将这个日期转换为ISO格式(YYYY-MM-DD)",
        "按YYYY-MM-DD的格式改写日期",
    ),
)
MONTH = Wordings(
    en=(
        "How many days does {m} {y} have?",
        "Number of days in {m} {y}?",
        "{m} of {y}: how many days?",
    ),
    zh=("{y}年{m}有多少天？", "{y}年的{m}有几天？", "请问{y}年{m}一共多少天？"),
    form="number",
)
LEAP = Wordings(
    en=("Is {y} a leap year?", "Was {y} a leap year?", "Leap year or not: {y}?"),
    zh=("{y}年是闰年吗？", "{y}年是不是闰年？", "请问{y}年是否为闰年？"),
    form="yesno",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_after, _between, _away, _iso, _iso, _iso, _after, _month, _weekday, _leap):
            yield from draw(rng)


def _day(rng: random.Random) -> date:
    return date(2015, 1, 1) + timedelta(rng.randrange(5100))


def _written(rng: random.Random, day: date) -> tuple[str, str]:
    month = calendar.month_name[day.month]
    english = (f"{month} {day.day}, {day.year}", f"{day.day} {month} {day.year}", day.isoformat())
    return rng.choice(english), f"{day.year}年{day.month}月{day.day}日"


def _spelt(index: int, but: int = -1) -> tuple[Holds, Holds]:
    """The weekday, and no other but the one that the question names."""
    others = [each for each in range(7) if each not in {index, but}]

    def chinese(each: int) -> tuple[str, ...]:
        sign = DAYS[each][1][-1]
        return tuple(
            f"{week}{end}"
            for week in ("星期", "周", "礼拜")
            for end in (sign, "天"[: sign == "日"])
            if end
        )

    return (
        Holds((DAYS[index][0],), tuple(DAYS[each][0] for each in others), 8),
        Holds(chinese(index), tuple(said for each in others for said in chinese(each)), 8),
    )


def _after(rng: random.Random) -> Iterator[Question]:
    start, n = (
        rng.randrange(7),
        rng.choice((rng.randint(1, 6), rng.randint(8, 20), rng.randint(20, 100))),
    )
    wordings, sign = rng.choice(((DAY_AFTER, 1), (DAY_AFTER, 1), (DAY_BEFORE, -1)))
    end = (start + sign * n) % 7
    yield from wordings.ask(
        rng, KIND, f"{DAYS[start][0]} {sign * n}", _spelt(end, start), day=DAYS[start], n=n
    )


def _weekday(rng: random.Random) -> Iterator[Question]:
    day = _day(rng)
    yield from WEEKDAY.ask(rng, KIND, f"weekday {day}", _spelt(day.weekday()), d=_written(rng, day))


def _between(rng: random.Random) -> Iterator[Question]:
    day, n = _day(rng), rng.choice((rng.randint(3, 12), rng.randint(12, 120)))
    end = _written(rng, day + timedelta(n))
    yield from BETWEEN.ask(rng, KIND, f"{day} {n}", Number(n), d=_written(rng, day), e=end)


def _away(rng: random.Random) -> Iterator[Question]:
    day, n = _day(rng), rng.choice((rng.randint(1, 9), rng.randint(10, 60)))
    check = Holds(((day + timedelta(n)).isoformat(),))
    yield from AWAY.ask(rng, KIND, f"{day} {n}", check, d=_written(rng, day), n=n)


def _iso(rng: random.Random) -> Iterator[Question]:
    day = _day(rng)
    month = calendar.month_name[day.month]
    english = rng.choice(
        (
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month} {day.year}",
            f"{day.day} {month[:3]} {day.year}",
            f"{calendar.day_name[day.weekday()]}, {day.day} {month} {day.year}",
        )
    )
    chinese = rng.choice(
        (f"{day.year}年{day.month}月{day.day}日", f"{day.year}/{day.month}/{day.day}")
    )
    yield from ISO.ask(rng, KIND, f"iso {day}", Holds((day.isoformat(),)), item=(english, chinese))


def _month(rng: random.Random) -> Iterator[Question]:
    year, month = rng.randint(1996, 2044), rng.choice((2, rng.randint(1, 12)))
    days = calendar.monthrange(year, month)[1]
    said = calendar.month_name[month], f"{month}月"
    yield from MONTH.ask(rng, KIND, f"{year}-{month}", Number(days), m=said, y=year)


def _leap(rng: random.Random) -> Iterator[Question]:
    year = rng.choice((rng.randint(1960, 2060), rng.choice((1700, 1800, 1900, 2000, 2100, 2400))))
    check = YES if calendar.isleap(year) else NO
    yield from LEAP.ask(rng, KIND, f"leap {year}", check, 12, y=year)
