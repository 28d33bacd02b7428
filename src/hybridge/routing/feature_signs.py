"""What a prompt asks for or is about, told by its words: the lexical half of the features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """One kind of word."""

    name: str
    words: str
    """What it means, for whoever reads a decision."""
    whole: tuple[str, ...] = ()
    """Latin words that count only as whole words."""
    parts: tuple[str, ...] = ()
    """Pieces that count anywhere: stems, phrases, and Chinese, which has no spaces."""

    def count(self, lower: str, counted: Mapping[str, int]) -> int:
        """How often it occurs in a lower-case text whose Latin words have been counted."""
        whole = sum([counted[word] for word in self.whole if word in counted])
        return whole + sum([lower.count(part) for part in self.parts])


SIGNS = (
    Sign("why", "asks why", ("why",), ("explain", "为什么", "解释", "原因", "说明")),
    Sign("how", "asks how", ("how",), ("如何", "怎么", "怎样")),
    Sign(
        "prove",
        "asks for a proof",
        ("prove",),
        ("proof", "derive", "theorem", "证明", "推导", "定理"),
    ),
    Sign(
        "calc",
        "asks for a calculation",
        ("compute", "solve"),
        (
            "calculat",
            "how many",
            "how much",
            "probab",
            "percent",
            "求",
            "计算",
            "多少",
            "概率",
            "方程",
        ),
    ),
    Sign(
        "code",
        "code",
        ("java", "sql", "python"),
        ("```", "def ", "function", "class ", "import ", "#include", "代码", "函数", "编程"),
    ),
    Sign(
        "write",
        "asks for writing",
        ("write", "poem"),
        ("essay", "story", "email", "写", "作文", "诗", "邮件", "故事"),
    ),
    Sign("list", "asks for a list", ("list",), ("give me", "列出", "列举")),
    Sign("summary", "asks for a summary", (), ("summar", "总结", "摘要", "概括")),
    Sign("translate", "asks for a translation", (), ("translat", "翻译")),
    Sign(
        "negation",
        "asks for an exception",
        ("not", "least"),
        ("except", "incorrect", "错误", "不正确", "不是", "除了"),
    ),
    Sign(
        "condition",
        "makes assumptions",
        ("if",),
        ("suppose", "assum", "given that", "如果", "假设", "若"),
    ),
    Sign(
        "constraint",
        "sets constraints",
        ("must", "should", "only", "exactly", "json"),
        ("at least", "at most", "必须", "至少", "最多", "不超过", "要求", "格式"),
    ),
    Sign(
        "compare",
        "asks for a comparison",
        ("vs", "versus"),
        ("compar", "differen", "比较", "区别", "异同"),
    ),
    Sign(
        "law",
        "law",
        ("court",),
        ("plaintiff", "defendant", "statute", "法律", "法院", "合同", "民法"),
    ),
    Sign(
        "medicine",
        "medicine",
        (),
        ("patient", "diagnos", "symptom", "disease", "患者", "诊断", "治疗"),
    ),
    Sign(
        "steps",
        "asks for steps",
        ("then", "finally"),
        ("step by step", "first,", "步骤", "分步", "一步一步"),
    ),
)

_WHOLE = tuple((index, word) for index, sign in enumerate(SIGNS) for word in sign.whole)
_PARTS = tuple((index, part) for index, sign in enumerate(SIGNS) for part in sign.parts)
_LATIN_PARTS = tuple((index, part) for index, part in _PARTS if part.isascii())


def count_signs(lower: str, counted: Mapping[str, int]) -> list[int]:
    """How often each of `SIGNS` occurs, as `Sign.count` counts it, in one pass over their words."""
    found = [0] * len(SIGNS)
    for index, word in _WHOLE:
        if word in counted:
            found[index] += counted[word]
    count = lower.count
    for index, part in _LATIN_PARTS if lower.isascii() else _PARTS:
        if part in lower:
            found[index] += count(part)
    return found
