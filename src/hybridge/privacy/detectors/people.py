"""Names and birthdays that a text itself calls so. Finding bare names is a model's work, not this.

A title or a form's `name:` is a weak sign (`LOW`), since stories and YAML are full of them; the
scan raises it where the same text holds other data of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy.detectors.surnames import CHINESE_NAME, FIRST_OF_SURNAMES
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View
from hybridge.privacy.words import any_word

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
_CALLED_CHINESE = re.compile(
    rf"{any_word(_CALLED.split('|'))}[ \t\"：:是为（(]{{0,4}}({CHINESE_NAME}){_NAME_ENDS}"
)
_IN_THE_ROLE_CHINESE = re.compile(
    rf"{any_word((*_IN_THE_ROLE.split('|'), 'name'))}\"?[ \t]?[：:（( ][ \t\"]{{0,2}}"
    rf"({CHINESE_NAME}){_NAME_ENDS}"
)
_TITLES = ("先生", "女士", "小姐", "老师", "医生", "教授", "律师", "经理", "主任", "同学", "师傅")
_TITLED_CHINESE = re.compile(
    rf"[{FIRST_OF_SURNAMES}](?<![\u4e00-\u9fff].)[\u4e00-\u9fff]{{1,3}}?(?={any_word(_TITLES)})"
)
_NAME = re.compile(CHINESE_NAME)

_ENGLISH_NAME = r"([A-Z][a-z'\-]{1,20}(?: [A-Z][a-z'\-]{1,20}){1,2})(?![a-z])"
_TWO_CAPITALS = re.compile(r"[A-Z][a-z'\-]{1,20} [A-Z][a-z'\-]")
"""Cheap, in every English name, and in few prompts."""
_CUED_ENGLISH = re.compile(
    r"[MmFfCcPpIiLlTtAanSsN](?<![A-Za-z].)(?:"
    r"(?:(?<=[Mm])y|(?<=[Ff])ull|(?<=[Cc])ustomer|(?<=[Pp])atient|(?<=[Cc])lient)"
    r" [Nn]ame(?: is|:)|(?<=I)(?: am|'m)|(?<=[Pp])atient|(?<=[Ll])andlord|(?<=[Tt])enant"
    r"|(?<=[Aa])ccount holder|(?<=n)amed|(?<=[Ss])tudent|(?<=[Ss])igned by)[ \"]{1,3}"
    + _ENGLISH_NAME
)
_TITLED_ENGLISH = re.compile(
    r"[NnDMLlEe](?<![A-Za-z].)(?:(?<=[Nn])ame\"? ?[:=]|(?<=D)(?:ear|r\.?)|(?<=M)(?:rs?|s)\.?"
    r"|(?<=[Ll])etter to|(?<=[Ee])mail to)[ \"]{1,3}" + _ENGLISH_NAME
)
_BIRTHDAY_CUES = ("dob", "date of birth", "born on", "birthday", "出生日期", "出生于", "生日")
_BIRTHDAY = re.compile(
    rf"{any_word(_BIRTHDAY_CUES)}[ ：:是为]{{0,3}}"
    r"((?:19|20)\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d"
    r"|[a-z]{3,9} \d{1,2}, (?:19|20)\d\d|\d{1,2} [a-z]{3,9} (?:19|20)\d\d)"
)
_LONG_PAST = re.compile(
    r"[^0-9\x1f]{0,40}((?:19\d\d|200\d|201[0-2])[-/.年]\d{1,2}[-/.月]\d{1,2}日?)(?![0-9])"
)
_BESIDE = 56
"""Characters after a name in which a day belongs to it."""


def detect(view: View) -> Iterator[Finding]:
    """Names beside a cue or a title, birthdays beside their name."""
    if not view.ascii:
        yield from _chinese(view)
    if _TWO_CAPITALS.search(view.text) is not None:
        for pattern, level in ((_CUED_ENGLISH, Level.MEDIUM), (_TITLED_ENGLISH, Level.LOW)):
            for match in view.matches(pattern, "PERSON"):
                yield Finding("PERSON", *match.span(1), level)
                if level is Level.MEDIUM:
                    yield from _day_beside(view, match.end())


def _day_beside(view: View, end: int) -> Iterator[Finding]:
    """A day long past soon after somebody's name: the word before it may be misspelt."""
    if view.digits:
        day = _LONG_PAST.match(view.text, end, end + _BESIDE)
        if day is not None:
            yield Finding("DOB", *day.span(1), Level.MEDIUM)


def _chinese(view: View) -> Iterator[Finding]:
    for pattern in (_CALLED_CHINESE, _IN_THE_ROLE_CHINESE):
        for match in view.matches(pattern, "PERSON"):
            yield Finding("PERSON", *match.span(1), Level.MEDIUM)
            yield from _day_beside(view, match.end())
    if view.mentions(_TITLES):
        for match in view.matches(_TITLED_CHINESE, "PERSON"):
            if _NAME.fullmatch(match.group()):
                yield Finding("PERSON", *match.span(), Level.LOW)


def birthdays(view: View) -> Iterator[Finding]:
    """Dates that the text calls somebody's birthday."""
    if view.mentions(_BIRTHDAY_CUES):
        for match in view.matches(_BIRTHDAY, "DOB", lower=True):
            yield Finding("DOB", *match.span(1), Level.MEDIUM)
