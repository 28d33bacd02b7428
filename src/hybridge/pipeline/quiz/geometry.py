"""Areas, perimeters, angles and volumes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from hybridge.pipeline.quiz.checks import Number
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import Wordings

KIND = "geometry"
Shape = tuple[tuple[str, ...], tuple[str, ...], Callable[[int, int, int], float]]
SHAPES: tuple[Shape, ...] = (
    (
        (
            "What is the area of a rectangle {a} cm by {b} cm, in square cm?",
            "A garden is {a} m long and {b} m wide. How many square metres is it?",
        ),
        (
            "长{a}厘米、宽{b}厘米的长方形面积是多少平方厘米？",
            "花园长{a}米，宽{b}米，面积是多少平方米？",
        ),
        lambda a, b, _: a * b,
    ),
    (
        (
            "What is the perimeter of a rectangle with sides {a} and {b}?",
            "A field is {a} m by {b} m. How many metres of fence go around it?",
        ),
        ("长{a}、宽{b}的长方形周长是多少？", "一块地长{a}米、宽{b}米，围一圈篱笆要多少米？"),
        lambda a, b, _: 2 * (a + b),
    ),
    (
        (
            "What is the area of a square with side {a}?",
            "A square tile has sides of {a} cm. Area in square cm?",
        ),
        ("边长为{a}的正方形面积是多少？", "正方形瓷砖边长{a}厘米，面积是多少平方厘米？"),
        lambda a, _b, _c: a * a,
    ),
    (
        (
            "A square has a perimeter of {x}. How long is one side?",
            "The four equal sides of a square make {x} cm. How long is each, in cm?",
        ),
        ("正方形周长是{x}，边长是多少？", "周长{x}厘米的正方形，边长多少厘米？"),
        lambda a, _b, _c: a,
    ),
    (
        (
            "What is the area of a triangle with base {a} and height {b}?",
            "A triangle is {a} cm wide at the base and {b} cm high. Its area in square cm?",
        ),
        (
            "底为{a}、高为{b}的三角形面积是多少？",
            "三角形底边{a}厘米，高{b}厘米，面积多少平方厘米？",
        ),
        lambda a, b, _: a * b / 2,
    ),
    (
        (
            "What is the volume of a box {a} by {b} by {c}?",
            "A tank is {a} m long, {b} m wide and {c} m deep. How many cubic metres does it hold?",
        ),
        (
            "长{a}、宽{b}、高{c}的长方体体积是多少？",
            "水箱长{a}米、宽{b}米、深{c}米，能装多少立方米水？",
        ),
        lambda a, b, c: a * b * c,
    ),
    (
        (
            "Two angles of a triangle are {p} and {q} degrees. How many degrees is the third?",
            "In a triangle, two angles measure {p}° and {q}°. What is the other angle in degrees?",
        ),
        (
            "三角形两个角是{p}度和{q}度，第三个角多少度？",
            "一个三角形的两个内角分别为{p}°和{q}°，求另一个角的度数。",
        ),
        lambda a, b, _: 180 - (a * 2 + 10) - (b * 2 + 10),
    ),
    (
        (
            "The legs of a right triangle are {u} and {v}. How long is the hypotenuse?",
            "A ladder stands {u} m from a wall and reaches {v} m up. How long is it in metres?",
        ),
        (
            "直角三角形两条直角边为{u}和{v}，斜边多长？",
            "梯子底部离墙{u}米，顶端高{v}米，梯子长多少米？",
        ),
        lambda _a, _b, c: 5 * c,
    ),
    (
        (
            "What is the area of a circle with radius {a}? Use 3.14 for pi.",
            "A round table has a radius of {a} dm. With pi = 3.14, what is its area in square dm?",
        ),
        ("半径为{a}的圆面积是多少？π取3.14。", "圆桌半径{a}分米，π取3.14，面积是多少平方分米？"),
        lambda a, _b, _c: round(3.14 * a * a, 2),
    ),
    (
        (
            "How many edges does a prism with a base of {s} sides have?",
            "A prism stands on a polygon of {s} sides. How many edges are there?",
        ),
        ("底面是{s}边形的棱柱有多少条棱？", "{s}棱柱一共有几条棱？"),
        lambda _a, _b, c: 3 * (c % 7 + 3),
    ),
    (
        (
            "What is the sum of the interior angles of a polygon with {s} sides, in degrees?",
            "A polygon has {s} sides. Its inner angles add up to how many degrees?",
        ),
        ("{s}边形的内角和是多少度？", "一个多边形有{s}条边，内角和是几度？"),
        lambda _a, _b, c: 180 * (c % 7 + 1),
    ),
    (
        (
            "What is the surface area of a cube with edge {a}?",
            "How much paper covers a cube with edges of {a} cm, in square cm?",
        ),
        ("棱长为{a}的正方体表面积是多少？", "正方体棱长{a}厘米，包住它要多少平方厘米的纸？"),
        lambda a, _b, _c: 6 * a * a,
    ),
)


def questions(rng: random.Random) -> Iterator[Question]:
    """Without end."""
    while True:
        for which, (english, chinese, count) in enumerate(SHAPES):
            most = rng.choice((9, 30))
            a, b, c = (rng.randint(2, most) for _ in "abc")
            yield from Wordings(english, chinese, "number").ask(
                rng, KIND, f"{which} {a} {b} {c}", Number(count(a, b, c)), 40,
                a=a, b=b, c=c, x=4 * a, p=2 * a + 10, q=2 * b + 10, u=3 * c, v=4 * c, s=c % 7 + 3,
            )  # fmt: skip
