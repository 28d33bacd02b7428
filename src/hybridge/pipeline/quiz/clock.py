"""Times of day: minutes added, time between, 12 and 24 hours."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Holds, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "clock"
ADD = Wordings(
    en=(
        "It is {t}. What time is it in {n} minutes? Use 24-hour HH:MM.",
        "A film starts at {t} and lasts {n} minutes. When does it end? (HH:MM)",
        "What is {t} plus {n} minutes? Answer as HH:MM.",
        "The bus leaves at {t} and arrives {n} minutes later. At what time? HH:MM only.",
        "My meeting begins at {t} and takes {n} minutes, so when is it over? HH:MM please.",
    ),
    zh=(
        "现在是{t}，{n}分钟后是几点？用HH:MM回答。",
        "电影{t}开始，时长{n}分钟，几点结束？（HH:MM）",
        "{t}加{n}分钟是几点？格式HH:MM。",
        "会议{t}开始，开{n}分钟，什么时候结束？只写HH:MM。",
        "公交车{t}发车，{n}分钟后到站，几点到？用24小时制HH:MM。",
    ),
    form="none",
)
BACK = Wordings(
    en=(
        "What time was it {n} minutes before {t}? Use HH:MM.",
        "Take {n} minutes off {t}. Give HH:MM only.",
    ),
    zh=("{t}的{n}分钟前是几点？用HH:MM回答。", "从{t}往前推{n}分钟是几点？只写HH:MM。"),
    form="none",
)
SPAN = Wordings(
    en=(
        "How many minutes are there from {t} to {e}?",
        "A lesson runs from {t} to {e}. How many minutes is that?",
        "I slept from {t} until {e}. How long was that in minutes?",
    ),
    zh=(
        "从{t}到{e}有多少分钟？",
        "一节课从{t}上到{e}，共多少分钟？",
        "{t}出发，{e}到达，路上用了多少分钟？",
    ),
    form="number",
)
TO_24 = Wordings(
    en=(
        "write this time in 24-hour format (HH:MM)",
        "convert the time to 24-hour HH:MM",
        "change this to military style HH:MM",
    ),
    zh=(
        "把时间写成24小时制(HH:MM)",
        "将下面的时间转换为24小时制HH:MM",
        "用24小时制HH:MM表示这个时间",
    ),
)
TO_12 = Wordings(
    en=(
        "write this time in 12-hour format with AM or PM",
        "convert the time to 12-hour format (like 3:05 PM)",
        "say this time with AM or PM",
    ),
    zh=(
        "把时间写成12小时制，带AM或PM",
        "将下面的时间转换为12小时制(如 3:05 PM)",
        "用AM/PM的形式表示这个时间",
    ),
)
LASTS = Wordings(
    en=(
        "How many minutes are {h} hours and {m} minutes?",
        "{h} h {m} min in minutes?",
        "Turn {h} hours {m} minutes into minutes.",
    ),
    zh=("{h}小时{m}分钟一共多少分钟？", "{h}小时{m}分是多少分钟？", "把{h}小时{m}分钟化成分钟。"),
    form="number",
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for draw in (_shift, _span, _to_24, _shift, _to_12, _lasts):
            yield from draw(rng)


def _said(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _either(minute: int) -> tuple[str, ...]:
    """With and without the leading nought."""
    return tuple({_said(minute): 0, f"{minute // 60}:{minute % 60:02}": 0})


def _shift(rng: random.Random) -> Iterator[Question]:
    n, back = rng.choice((rng.randrange(5, 60, 5), rng.randint(20, 200))), rng.random() < 0.3
    start = rng.randrange(360, 1200, rng.choice((5, 15, 1)))
    end = start - n if back else start + n
    check = Holds(_either(end))
    yield from (BACK if back else ADD).ask(rng, KIND, f"{start} {end}", check, t=_said(start), n=n)


def _span(rng: random.Random) -> Iterator[Question]:
    start = rng.randrange(300, 1100, 5)
    end = start + rng.choice((rng.randrange(10, 60, 5), rng.randint(40, 330)))
    yield from SPAN.ask(
        rng, KIND, f"{start} {end}", Number(end - start), t=_said(start), e=_said(end)
    )


def _twelve(minute: int) -> tuple[str, str]:
    hour = minute // 60 % 12 or 12
    return f"{hour}:{minute % 60:02}", "PM" if minute >= 720 else "AM"


def _to_24(rng: random.Random) -> Iterator[Question]:
    minute = rng.randrange(1440)
    clock, half = _twelve(minute)
    hours = minute // 60
    part = "凌晨" if hours < 6 else "上午" if hours < 12 else "下午" if 12 < hours < 18 else "晚上"
    chinese = f"{part}{clock}" if 0 < hours < 23 and hours != 12 else f"{clock} {half}"
    english = rng.choice((f"{clock} {half}", f"{clock} {half.lower()}", f"{clock}{half.lower()}"))
    yield from TO_24.ask(rng, KIND, f"24 {minute}", Holds(_either(minute)), item=(english, chinese))


def _to_12(rng: random.Random) -> Iterator[Question]:
    minute = rng.randrange(1440)
    clock, half = _twelve(minute)
    spellings = tuple(
        f"{nought}{clock}{space}{dotted}"
        for nought in ("", "0"[: len(clock) == 4])
        for space in (" ", "")
        for dotted in (half, f"{half[0]}.{half[1]}.")
    )
    check = Holds(spellings)
    yield from TO_12.ask(rng, KIND, f"12 {minute}", check, item=_said(minute))


def _lasts(rng: random.Random) -> Iterator[Question]:
    h, m = rng.randint(2, 24), rng.randint(1, 59)
    yield from LASTS.ask(rng, KIND, f"{h} h {m}", Number(60 * h + m), h=h, m=m)
