"""A text as rules read it: one spelling for each character, and what is quoted told apart."""

from __future__ import annotations

import re
import unicodedata

HEAD_CHARS, TAIL_CHARS = 1500, 500
"""How much of a long text is read for what it asks: people ask before or after what they paste."""

QUOTE = "¤"
"""Stands where something quoted was."""

_TRADITIONAL = (
    "證導譯語詞題標籤屬類別檢測識別糾錯誤訂對檢查寫詩實現開發優構調試複雜數組計積極陣值"
    "機統請幫麻煩這為什麼樣說講話種國簡總結縮概歸納邏輯謎題斷評價設計較論戰劃響權單選項"
    "號應該問訊報轉換範圍條將從個們來給與還沒聽見謝歡晚會嗎讓後關鍵抽過書籍頁線網絡據庫"
    "並發創達顯減緒態喚資產務業戶銀賬長遞鏈樹圖隊討規則證無當變異歲錢費麵點處圓勝負難"
    "經濟財產稅術藥療斷診審師養護環態歷華東車門間風飛馬魚鳥龍齊韓漢葉飯館買賣鐘鬆"
    "証訳説関読対応図売圧単価変帰検総継続齢悪帯拡広浅"
)
_SIMPLIFIED = (
    "证导译语词题标签属类别检测识别纠错误订对检查写诗实现开发优构调试复杂数组计积极阵值"
    "机统请帮麻烦这为什么样说讲话种国简总结缩概归纳逻辑谜题断评价设计较论战划响权单选项"
    "号应该问讯报转换范围条将从个们来给与还没听见谢欢晚会吗让后关键抽过书籍页线网络据库"
    "并发创达显减绪态唤资产务业户银账长递链树图队讨规则证无当变异岁钱费面点处圆胜负难"
    "经济财产税术药疗断诊审师养护环态历华东车门间风飞马鱼鸟龙齐韩汉叶饭馆买卖钟松"
    "证译说关读对应图卖压单价变归检总继续龄恶带扩广浅"
)
"""Traditional and Japanese forms of the characters that tasks, signs and shipped rules are
written with, pair by pair. Not a converter: meaning is never read from it."""

_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e"
_SPELLING = str.maketrans(
    dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True))
    | dict.fromkeys(_INVISIBLE)
    | {QUOTE: " ", "’": "'", "‘": "'", "﹕": ":", "，": ",", "\r": "\n"}
)
_RESPELLED = re.compile(
    f"[{''.join(chr(old) for old, new in _SPELLING.items() if chr(old) != new)}]"
)
"""Looking for these is ten times as fast as `str.translate`, which most Chinese texts can spare."""

_WIDE_MARKS = tuple(zip("，？！：；（）", ",?!:;()", strict=True))
"""What NFKC would make of Chinese punctuation. A text with nothing else to normalise is told by a
glance, which normalising it is not."""

_QUOTE_MARKS = "`<>“「『\"'"
"""One of these opens whatever `_QUOTED` finds."""
_QUOTED = re.compile(
    # Each alternative begins with a literal: only so does `re` skip to where one can begin.
    r"```.*?(?:```|\Z)"  # a fenced block
    r"|<([a-z][a-z0-9_-]{0,30})>.{0,2000}?</\1>"  # <document>…</document>
    r"|“[^”]{1,2000}”|「[^」]{1,2000}」|『[^』]{1,2000}』"
    r"|\"[^\"]{1,2000}\""
    r"|'(?<![a-z0-9]')[^'\n]{1,500}'(?![a-z0-9])"
    r"|>(?<=^>)[^\n]*| (?<=^ ) *>[^\n]*",
    re.DOTALL | re.MULTILINE | re.ASCII,
)


def plain(text: str) -> str:
    """The text in one spelling: NFKC (full-width forms become ordinary ones), lower case,
    simplified characters, nothing invisible."""
    if text.isascii():  # which has one spelling already, but for case and line ends
        return text.lower().replace("\r", "\n")
    for wide, narrow in _WIDE_MARKS:
        text = text.replace(wide, narrow)
    lower = unicodedata.normalize("NFKC", text).lower()
    return lower.translate(_SPELLING) if _RESPELLED.search(lower) else lower


def window(text: str) -> str:
    """The beginning and the end of a long text, the whole of a short one."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


def unquoted(plain_text: str) -> str:
    """The text without its quotations: code fences, tagged documents, quotes, `>` lines."""
    if any(mark in plain_text for mark in _QUOTE_MARKS):
        return _QUOTED.sub(f" {QUOTE} ", plain_text)
    return plain_text


def mentions(plain_text: str, keyword: str) -> bool:
    """Whether the text holds the keyword, both in `plain` spelling.

    One that begins or ends in a letter or digit does not count inside a longer word (`api` in
    `therapist`), but does beside Chinese, Japanese or Korean (`用sql统计`), which have no spaces.
    """
    start = plain_text.find(keyword)
    while start >= 0:
        end = start + len(keyword)
        inside = _joined(plain_text, start - 1, start) or _joined(plain_text, end - 1, end)
        if not inside:
            return True
        start = plain_text.find(keyword, start + 1)
    return False


def _joined(text: str, left: int, right: int) -> bool:
    """Whether two neighbouring characters belong to one word of an alphabetic script."""
    return left >= 0 and right < len(text) and _in_word(text[left]) and _in_word(text[right])


def _in_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and ord(character) < 0x2E80)
