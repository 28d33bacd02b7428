"""Words and scripts that tell something about an answer, in English and Chinese."""

from __future__ import annotations

import re

CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
"""One Chinese character."""
LATIN = re.compile(r"[A-Za-zÀ-ɏ]+")
"""One word in Latin letters."""
REFUSAL = re.compile(
    r"\W*(i['’]?m sorry|sorry,|unfortunately, i|i apologi[sz]e|as an ai"
    r"|i(['’]?m| am) (not able|unable)"
    r"|i (can['’]?t|cannot|can not) (help|assist|answer|do|provide|fulfil|comply)"
    r"|抱歉|对不起|很遗憾|作为(一个|一名)?(ai|人工智能|语言模型)"
    r"|我(无法|不能|没办法)(回答|提供|帮|完成|理解))",
    re.IGNORECASE,
)
"""How a refusal begins; to be matched at the start of an answer."""
HEDGE = re.compile(
    r"(?<![A-Za-z0-9_])(i['’]?m not sure|i (don['’]?t|do not) know|hard to say)(?![A-Za-z0-9_])"
    r"|我(也)?不(太)?(确定|知道|清楚)|不好说",
    re.IGNORECASE,
)
"""How doubt is put into words."""
SORRY = re.compile(
    r"sorry|apolog|unfortunate|refus|declin|抱歉|对不起|道歉|遗憾|拒绝", re.IGNORECASE
)
"""Words of a request whose right answer may begin like a refusal."""
AMOUNT = re.compile(
    r"\d|[〇零一二三四五六七八九十百千万亿两半]|(?<![a-z])(no|none|zero|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|(thir|four|fif|six|seven|eigh|nine)teen"
    r"|(twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|dozens?|half"
    r"|several|few|many)(?![a-z])",
    re.IGNORECASE,
)
"""Anything that says how many."""
