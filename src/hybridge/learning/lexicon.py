"""What a prompt is made of: kinds of words, in English and Chinese, and how varied it is."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

KINDS = {
    "function_words": (
        (
            "the a an of to in is are was were be been that this it for on with as by at from or "
            "and but if not which who what when where how than then so do does did has have had "
            "he she they his her their its i you we my your"
        ),
        "的 了 是 在 和 与 也 就 都 而 把 被 这 那",
    ),
    "quantities": (
        (
            "each every many much more less most least twice half double triple times total "
            "remaining left per percent average sum difference altogether equal"
        ),
        "每 共 一半 倍 平均 总 剩 余 和是 相差 等于 百分",
    ),
    "question_words": (
        ("what which who whom whose when where why how"),
        "什么 哪 谁 何时 哪里 为什么 怎么 如何 几 多少",
    ),
    "reasoning_words": (
        (
            "because therefore thus hence assume suppose given explain why prove show reason "
            "conclude implies imply if then except following best most likely true false correct "
            "incorrect"
        ),
        "因为 所以 因此 假设 已知 说明 证明 推断 结论 如果 那么 正确 错误 最可能",
    ),
    "mathematical_words": (
        (
            "equation function integral derivative matrix vector polynomial triangle circle angle "
            "probability prime integer square root sum product limit theorem group ring field "
            "finite graph mod series"
        ),
        "方程 函数 积分 导数 矩阵 向量 多项式 三角形 圆 角 概率 质数 整数 平方 根 极限 定理 数列",
    ),
    "subject_words": (
        (
            "energy mass force velocity pressure temperature acid cell gene protein blood patient "
            "law court act contract market price demand cost firm tax"
        ),
        "能量 质量 速度 压强 温度 酸 细胞 基因 蛋白 血 患者 法律 法院 合同 市场 价格 需求 成本 税",
    ),
}
"""Latin words that count whole, and Chinese pieces that count anywhere."""

NAMES = tuple(KINDS)
_ZLIB_HEADER = 20
"""Bytes that a compressed text has whatever it says, roughly."""
_KIND = {
    word: tuple(place for place, name in enumerate(NAMES) if word in KINDS[name][0].split())
    for name in NAMES
    for word in KINDS[name][0].split()
}
_PIECES = tuple(
    (place, piece) for place, name in enumerate(NAMES) for piece in KINDS[name][1].split()
)


def count(text: str, counted: Mapping[str, int]) -> list[int]:
    """How many words of each kind a text has, whose Latin words have been counted."""
    found = [0] * len(NAMES)
    for word in counted.keys() & _KIND.keys():
        for place in _KIND[word]:
            found[place] += counted[word]
    if not text.isascii():
        for place, piece in _PIECES:
            found[place] += text.count(piece)
    return found


def variety(text: str) -> float:
    """Size after compression by the size before, 0 to about 1."""
    raw = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(raw, 1)) / (len(raw) + _ZLIB_HEADER)


def asks_first(words: list[str]) -> bool:
    """Whether the first Latin word asks a question."""
    return bool(words) and NAMES.index("question_words") in _KIND.get(words[0], ())
