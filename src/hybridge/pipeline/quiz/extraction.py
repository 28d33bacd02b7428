"""One or several fields out of a made-up message."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from hybridge.pipeline.quiz.checks import Check, Holds, JsonIs, Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.vocabulary import GOODS, NAMES, NOUNS
from hybridge.pipeline.quiz.wording import Wordings

KIND = "extraction"
FIELDS: dict[str, tuple[str, str]] = {
    "name": ("the person's name", "人名"),
    "other": ("the name of the person to ask for", "要找的人的名字"),
    "order": ("the order number", "订单号"),
    "total": ("the amount", "金额"),
    "count": ("the number of pieces", "件数"),
    "item": ("the product", "商品名称"),
    "time": ("the time", "时间"),
    "room": ("the room", "房间号"),
    "email": ("the e-mail address", "电子邮箱"),
    "code": ("the code", "验证码"),
    "date": ("the date", "日期"),
    "city": ("the destination", "目的地"),
    "gate": ("the gate", "登机口"),
    "track": ("the tracking number", "运单号"),
}
ONE = Wordings(
    en=(
        "extract {f} from the message",
        "find {f} in this text",
        "give me {f}",
        "pull out {f} and nothing else",
        "what is {f} here? Text: {item}",
        "From this message I only need {f}. {form}\n{item}",
        "Which is {f} in this message? {form}\n{item}",
    ),
    zh=(
        "从消息中提取{f}",
        "找出文中的{f}",
        "告诉我{f}",
        "只提取{f}",
        "下面的{f}是什么？{form}\n{item}",
        "我只需要这条消息里的{f}。{form}\n{item}",
        "请问{f}是多少或是什么？{form}\n{item}",
    ),
)
JSON = Wordings(
    en=(
        "extract {keys} from the message as JSON with exactly these keys",
        "turn the message into a JSON object with the keys {keys}",
        "return JSON with {keys} from this text",
        "fill a JSON object (keys {keys}) from the message",
    ),
    zh=(
        "从消息中提取{keys}，输出为只含这些键的JSON",
        "把消息转换成JSON对象，键为{keys}",
        "根据文本返回含{keys}的JSON",
        "用消息内容填写JSON（键：{keys}）",
    ),
    form="json",
)
MESSAGES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("name", "order", "item", "count"),
        "Hello {name}, your order {order} of {count} {item}s has been packed and leaves tomorrow.",
        "{name}您好，您的订单{order}（{item}{count}件）已打包，明天发出。",
    ),
    (
        ("name", "time", "room"),
        "Hi all, {name} moved the meeting to {time}. We are now in room {room}, not in the hall.",
        "大家好，{name}把会议改到{time}，地点换成房间{room}，不在大厅。",
    ),
    (
        ("order", "total", "date"),
        "Invoice {order} over {total} euros is due on {date}. Thank you for paying on time.",
        "账单{order}金额为{total}元，请于{date}前付款，谢谢。",
    ),
    (
        ("name", "email", "item"),
        "My {item} arrived broken. Please write to {email}. Regards, {name}",
        "我收到的{item}坏了，请回复到{email}。{name}",
    ),
    (
        ("code", "time"),
        "Your login code is {code}. It is valid until {time}. Do not share it with anybody.",
        "您的登录验证码是{code}，{time}前有效，请勿告诉他人。",
    ),
    (
        ("city", "gate", "time"),
        "The flight to {city} now boards at gate {gate}. Departure stays at {time}.",
        "飞往{city}的航班改在{gate}登机口登机，起飞时间仍为{time}。",
    ),
    (
        ("track", "date", "name"),
        "Parcel {track} was handed to {name} on {date}. If that is wrong, tell us within 3 days.",
        "包裹{track}已于{date}交给{name}签收，如有误请在3天内联系我们。",
    ),
    (
        ("name", "date", "other"),
        "I am {name} and will be away from {date}. In urgent cases please ask {other} on floor 2.",
        "我是{name}，{date}起休假，有急事请找二楼的{other}。",
    ),
    (
        ("item", "total", "count"),
        "We bought {count} boxes of {item}s for 3 offices and paid {total} dollars in all.",
        "我们给3个办公室买了{count}箱{item}，含运费共付{total}元。",
    ),
    (
        ("name", "room", "date", "time"),
        "Booking confirmed: {name}, room {room}, {date}, check-in from {time}. Breakfast included.",
        "预订成功：{name}，房间{room}，{date}入住，{time}起可办理，含早餐。",
    ),
)
"""The fields of a message, and the message in English and in Chinese."""
CITIES = (
    ("Madrid", "马德里"),
    ("Oslo", "奥斯陆"),
    ("Vienna", "维也纳"),
    ("Cairo", "开罗"),
    ("Lima", "利马"),
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end: two thirds ask for one field, the others for JSON."""
    while True:
        fields, *messages = rng.choice(MESSAGES)
        values = _values(rng)
        said = tuple(
            message.format_map({name: value[side] for name, value in values.items()})
            for side, message in enumerate(messages)
        )
        # with or without a currency, one or many: such fields are asked for alone
        plain = [field for field in fields if field not in {"total", "item"}]
        if rng.random() < 0.6 or len(plain) < 2:
            name = rng.choice(fields)
            checks = _one(name, 0, values, fields), _one(name, 1, values, fields)
            yield from ONE.ask(rng, KIND, said[0], checks, 24, item=said, f=FIELDS[name])
        else:
            keys = rng.sample(plain, min(len(plain), rng.choice((2, 2, 3))))
            checks = JsonIs(_picked(keys, values, 0)), JsonIs(_picked(keys, values, 1))
            yield from JSON.ask(
                rng, KIND, said[0], checks, 64, item=said, keys=(", ".join(keys), "、".join(keys))
            )


def _values(rng: random.Random) -> Mapping[str, tuple[str, str]]:
    name, other = rng.sample(NAMES, 2)
    digits = rng.randint(1000, 99999)
    hour, minute = rng.randint(8, 21), rng.choice((0, 5, 10, 15, 30, 45))
    month, day = rng.randint(1, 12), rng.randint(1, 28)
    box = f"{rng.choice(NOUNS)[0]}{rng.randint(1, 99)}@mail.example"
    return {
        "name": name,
        "other": other,
        "order": _same(rng.choice((f"A-{digits}", f"{digits}", f"ORD{digits}"))),
        "total": _same(
            rng.choice((f"{rng.randint(20, 950)}", f"{rng.randint(5, 300)}.{rng.randint(10, 99)}"))
        ),
        "count": _same(str(rng.randint(4, 60))),
        "item": rng.choice(GOODS),
        "time": _same(f"{hour:02}:{minute:02}"),
        "room": _same(rng.choice((f"{rng.randint(101, 499)}", f"B{rng.randint(10, 49)}"))),
        "email": _same(box),
        "code": _same(str(rng.randint(100_000, 999_999))),
        "date": (f"2026-{month:02}-{day:02}", f"2026-{month:02}-{day:02}"),
        "city": rng.choice(CITIES),
        "gate": _same(f"{rng.choice('ABCD')}{rng.randint(1, 29)}"),
        "track": _same(f"{rng.choice('XYZ')}{rng.randint(10_000, 99_999)}{rng.choice('CDE')}"),
    }


def _same(value: str) -> tuple[str, str]:
    return value, value


def _picked(keys: list[str], values: Mapping[str, tuple[str, str]], side: int) -> dict[str, str]:
    return {key: values[key][side] for key in keys}


def _one(
    name: str, side: int, values: Mapping[str, tuple[str, str]], fields: tuple[str, ...]
) -> Check:
    """The field said, and no other field of the message, so that its echo is no answer."""
    value = values[name][side]
    others = tuple(
        values[each][side]
        for each in fields
        if each != name and values[each][side] not in value and value not in values[each][side]
    )
    if name in {"total", "count"}:
        return Number(float(value))
    spelt = (value, f"{value}s") if name == "item" and side == 0 else (value,)
    return Holds(spelt, others, 2)
