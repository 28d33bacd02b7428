"""Names and birthdays that a text itself calls so. Finding bare names is a model's work, not this.

A title or a form's `name:` is a weak sign (`LOW`), since stories and YAML are full of them; the
scan raises it where the same text holds other data of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hybridge.privacy.detectors.surnames import CHINESE_NAME
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_CALLED = (
    "我叫|名字叫|名字是|姓名|联系人|收件人|收货人|寄件人|户名|开户名|患者|法人|法定代表人|车主|投保人"
    "|被保险人|受益人|出租方|承租方|借款人|今借到|尊敬的|申请人|持卡人|收货信息|爱人|同事"
)
_IN_THE_ROLE = "我是|本人|客户|学生|家长|业主|妻子|丈夫|老公|老婆|员工|经理|负责人"
"""Of use with a colon only."""
_NAME_ENDS = (
    r"(?=[\s，。、；：！？,.;:!?（）()\"'”“\-\d_/|]|$|先生|女士|小姐|老师|医生|同志|同学|本人|名下"
    r"|[的是在于和与及因已将向])"
)
_CUED_CHINESE = re.compile(
    rf"(?:(?:{_CALLED})[ \t\"：:是为（(]{{0,4}}"
    rf"|(?:{_IN_THE_ROLE})[ \t\"]?[：:（(]"
    rf"|name\"?[ \t\"：:]{{1,4}})({CHINESE_NAME}){_NAME_ENDS}"
)
_CHINESE_CUES = (*_CALLED.split("|"), *_IN_THE_ROLE.split("|"), "name")
_TITLES = ("先生", "女士", "小姐", "老师", "医生", "教授", "律师", "经理", "主任", "同学", "师傅")
_TITLED_CHINESE = re.compile(rf"(?<![\u4e00-\u9fff])({CHINESE_NAME})(?={'|'.join(_TITLES)})")

_ENGLISH_NAME = r"([A-Z][a-z'\-]{1,20}(?: [A-Z][a-z'\-]{1,20}){1,2})(?![a-z])"
_CUED_ENGLISH = re.compile(
    r"(?:(?:[Mm]y|[Ff]ull|[Cc]ustomer|[Pp]atient|[Cc]lient) [Nn]ame(?: is|:)|I am|I'm|[Pp]atient"
    r"|[Ll]andlord|[Tt]enant|[Aa]ccount holder|named|[Ss]tudent|[Ss]igned by)[ \"]{1,3}"
    + _ENGLISH_NAME
)
_ENGLISH_CUES = (
    *("name is", "name:", "i am", "i'm", "patient", "landlord", "tenant", "account holder"),
    *("named", "student", "signed by"),
)
_TITLED_ENGLISH = re.compile(
    r"(?:[Nn]ame\"? ?[:=]|Dear|Mr\.?|Mrs\.?|Ms\.?|Dr\.?|[Ll]etter to|[Ee]mail to)[ \"]{1,3}"
    + _ENGLISH_NAME
)
_ENGLISH_TITLES = ("name", "dear ", "mr", "ms", "dr", "letter to", "email to")
_BIRTHDAY = re.compile(
    r"(?:DOB|date of birth|born on|birthday|出生日期|出生于|生日)[ ：:是为]{0,3}"
    r"((?:19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[/-]\d{1,2}[/-](?:19|20)\d\d"
    r"|[A-Z][a-z]+ \d{1,2}, (?:19|20)\d\d)",
    re.IGNORECASE,
)
_BIRTHDAY_CUES = ("dob", "date of birth", "born on", "birthday", "出生日期", "出生于", "生日")


@dataclass(frozen=True, slots=True)
class _Sign:
    words: tuple[str, ...]
    """One of these must be there, in lower case, before the pattern is tried."""
    pattern: re.Pattern[str]
    """Group 1 is the value."""
    kind: str
    level: Level
    chinese: bool = False


_SIGNS = (
    _Sign(_CHINESE_CUES, _CUED_CHINESE, "PERSON", Level.MEDIUM, chinese=True),
    _Sign(_TITLES, _TITLED_CHINESE, "PERSON", Level.LOW, chinese=True),
    _Sign(_ENGLISH_CUES, _CUED_ENGLISH, "PERSON", Level.MEDIUM),
    _Sign(_ENGLISH_TITLES, _TITLED_ENGLISH, "PERSON", Level.LOW),
    _Sign(_BIRTHDAY_CUES, _BIRTHDAY, "DOB", Level.MEDIUM),
)


def detect(view: View) -> Iterator[Finding]:
    """Names beside a cue or a title, birthdays beside their name."""
    for sign in _SIGNS:
        if view.ascii and sign.chinese:
            continue
        if view.mentions(sign.words):
            for match in sign.pattern.finditer(view.text):
                yield Finding(sign.kind, *match.span(1), sign.level)
