"""Postal addresses, Chinese and of the English-speaking world."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_HOUSE = re.compile(r"[路街道巷弄同村里庄][\u4e00-\u9fff]{0,6}[0-9]{1,5}[号弄栋幢]")
_CHINESE = re.compile(
    r"(?:[\u4e00-\u9fff]{2,8}(?:省|自治区|市|自治州|地区|盟))?"
    r"[\u4e00-\u9fff]{1,8}(?:市|区|县|旗|镇|乡|街道|新区)"
    r"[\u4e00-\u9fffA-Za-z]{1,14}(?:路|街|大道|道|巷|弄|胡同|村|里|庄)[\u4e00-\u9fff]{0,6}"
    r"[0-9]{1,5}(?:号|弄|栋|幢)"
    r"(?:[\u4e00-\u9fffA-Za-z]{0,8}[0-9]{1,4}(?:号楼|栋|幢|单元|室|层|座|号))*"
    r"(?:[0-9]{1,4}(?:室|号|单元))*"
)
_DISTRICT = re.compile(r"[\u4e00-\u9fff][市区县旗镇乡道][\u4e00-\u9fffA-Za-z]")
_BEFORE_HOUSE, _AFTER_HOUSE, _EFFORT = 56, 64, 3

_ROAD = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Sq"
    "|Terrace|Parkway|Pkwy|Highway|Hwy|Circle|Trail|Plaza|Crescent|Close"
)
_UNIT = r"(?:,? (?:Apt|Suite|Unit|Ste)\.? ?#?\w{1,6})?"
_START = r"\d(?<![0-9A-Za-z#.].)\d{0,5}[A-Z]? (?:[NSEW]\.? )?"
_NUMBERED = re.compile("[0-9][A-Z]? [A-Z]")
"""Cheap, and in every address of the English kind."""
_ENGLISH = re.compile(
    rf"{_START}(?:[A-Z][a-z']{{1,20}} ){{1,4}}(?:{_ROAD})\.?(?![a-z])"
    rf"{_UNIT}(?:, [A-Z][A-Za-z .]{{2,24}})?(?:,? [A-Z]{{2}} \d{{5}}(?:-\d{{4}})?)?"
)
_POSTAL = re.compile(
    rf"{_START}(?:[A-Z][a-z']{{1,20}} ?){{1,4}}{_UNIT}"
    r",? [A-Z][A-Za-z .]{2,24}, [A-Z]{2} \d{5}(?:-\d{4})?"
)
"""Street words are many; a state and a ZIP code behind a house number say as much."""


def detect(view: View) -> Iterator[Finding]:
    """Addresses down to the house."""
    if not view.ascii:
        yield from _chinese(view)
    if not _NUMBERED.search(view.text):
        return
    for pattern in (_ENGLISH, _POSTAL):
        for match in view.matches(pattern, "ADDRESS"):
            yield Finding("ADDRESS", *match.span(), Level.MEDIUM)


def _chinese(view: View) -> Iterator[Finding]:
    """Looks around house numbers in roads only: place names are everywhere in Chinese text."""
    end = 0
    for house in _HOUSE.finditer(view.text):
        if house.start() < end:
            continue
        low = max(end, house.end() - _BEFORE_HOUSE)
        view.tally.count("ADDRESS")
        if not _DISTRICT.search(view.text, low, house.end()):
            continue
        view.tally.count("ADDRESS", _EFFORT)
        match = _CHINESE.search(view.text, low, house.end() + _AFTER_HOUSE)
        if match is not None:
            end = match.end()
            yield Finding("ADDRESS", *match.span(), Level.HIGH)
