"""How answers are told right from wrong: a few plain rules, each a value.

They are strict about what was asked for and lenient about what wraps it: quotation marks, a full
stop, "Answer:", a fence, upper case.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

_WRAP = " \t\r\n\"'`*“”‘’「」『』《》.。!！,，;；:：()（）[]【】"
_LEAD = re.compile(
    r"^(?:the\s+)?(?:correct\s+|right\s+|corrected\s+)?(?:answer|result|output|sentence|label|category|translation|option|choice)"
    r"(?:\s+is\b\s*[:：]?|\s*[:：])\s*|^(?:正确)?(?:答案|结果|输出|类别|标签|翻译|回答|选项)"
    r"(?:(?:是|为)?\s*[:：]\s*|(?:应该|应)?(?:是|为)\s*|\s*(?=[a-j]\b))",
    re.IGNORECASE,
)
SENTENCE = 90
"""Characters for a whole sentence around a fact."""
_OR = r"\s*(?:,\s*(?:or|and)|[,、/]|or|and|或者|或|和|还是)\s*"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_HAN_DIGITS = "〇零一二三四五六七八九十百千万亿两"
_FENCE = re.compile(r"^```[a-z]*\n?(.*?)\n?```\s*$", re.DOTALL | re.IGNORECASE)

_YES_NO = re.compile(
    r"\b(?:(?P<no>no|not|false|incorrect|wrong|cannot|\w+n't)|(?P<yes>yes|true|correct|right))\b"
)
_YES_NO_ZH = re.compile(
    r"(?P<no>不(?!过)|没(?!错)|否|错|假|并非|^非(?![洲常])|^无(?!论)|是[错假])"
    r"|(?P<yes>没错|正确|属于|可以|^真(?!空)|是(?![否不])|对(?!于)|能(?!否)|会(?![议否])|有(?![些人时]))"
)
_CHOICE = re.compile(
    r"""["“'「]?\b(?:yes|true|correct)["”']? or ["“']?(?:no|false|incorrect)\b["”']?"""
    r"""|["“'「]?[是能对会有]["”'」]?(?:还是|或者?)["“'「]?(?:[否不没错]|$)["”'」]?"""
)


def plain(text: str) -> str:
    """Full-width characters narrowed, case folded, white space single, what wraps it taken off."""
    said = unicodedata.normalize("NFKC", _FENCE.sub(r"\1", text.strip())).replace("’", "'")
    said = re.sub(r"\s+", " ", said).strip(_WRAP)
    return (_LEAD.sub("", said).strip(_WRAP) or said).casefold()


def holds(said: str, part: str) -> bool:
    """Whether `part` stands in `said` as a word or number of its own; both are plain."""
    bound = r"(?<![0-9a-z])", r"(?![0-9a-z])"
    return bool(re.search(f"{bound[0]}{re.escape(part)}{bound[1]}", said))


class Exact(Struct, frozen=True, tag="exact"):
    """Nothing but one of these, apart from what wraps it."""

    any_of: tuple[str, ...]

    def accepts(self, answer: str) -> bool:
        return plain(answer) in {plain(one) for one in self.any_of}


class Holds(Struct, frozen=True, tag="holds"):
    """One of these as words of their own, and none of the others; not longer than so many times
    the longest of them and `room` characters, so that a list of guesses is no answer."""

    any_of: tuple[str, ...]
    none_of: tuple[str, ...] = ()
    times: int = 3
    room: int = 40

    def accepts(self, answer: str) -> bool:
        said = plain(answer)
        if len(said) > self.times * max(map(len, self.any_of)) + self.room:
            return False
        return any(holds(said, plain(one)) for one in self.any_of) and not any(
            holds(said, plain(one)) for one in self.none_of
        )


class HoldsAll(Struct, frozen=True, tag="holds_all"):
    """All of these, each in one of its spellings, and none of the others."""

    all_of: tuple[tuple[str, ...], ...]
    none_of: tuple[str, ...] = ()

    def accepts(self, answer: str) -> bool:
        said = plain(answer)
        return all(
            any(holds(said, plain(one)) for one in each) for each in self.all_of
        ) and not any(holds(said, plain(one)) for one in self.none_of)


class Verbatim(Struct, frozen=True, tag="verbatim"):
    """This text as it stands, upper and lower case too, and not inside a longer word or numeral;
    with at most so many characters around it."""

    text: str
    around: int = 50

    def accepts(self, answer: str) -> bool:
        said = answer.strip()
        bound = r"[^\W\u4e00-\u9fff]", f"[{_HAN_DIGITS}]"
        inside = bound[self.text[0] in _HAN_DIGITS]
        found = re.search(rf"(?<!{inside}){re.escape(self.text)}(?!{inside})", said)
        return found is not None and len(said) <= len(self.text) + self.around


class Number(Struct, frozen=True, tag="number"):
    """The last number that is said, of either sign; or the first line's, where that line is nothing
    but a number. Exponents and the 2 of cm2 are no numbers."""

    value: float
    within: float = 1e-6

    def accepts(self, answer: str) -> bool:
        said = _numeric(answer)
        first = said.split("\n", 1)[0].strip(_WRAP)
        found = [first] if _NUMBER.fullmatch(first) else _NUMBER.findall(said)
        return bool(found) and abs(float(found[-1]) - self.value) <= self.within


class Ratio(Struct, frozen=True, tag="ratio"):
    """The last fraction that is said is this one, term by term (`3/4`, `\\frac{3}{4}`); a whole
    number where the lower term is 1."""

    top: int
    bottom: int

    def accepts(self, answer: str) -> bool:
        said = re.sub(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}", r"\1/\2", _numeric(answer))
        found = re.findall(r"(?:(\d+) )?(-?\d+)(?: ?/ ?(\d+))?", said)
        if not found:
            return False
        whole, top, bottom = found[-1]
        return not whole and (int(top), int(bottom or 1)) == (self.top, self.bottom)


class Label(Struct, frozen=True, tag="label"):
    """One label out of several, named first or alone; `also` has its other spellings. Labels that
    are only listed, as the question may have listed them, are no answer."""

    label: str
    others: tuple[str, ...]
    also: tuple[str, ...] = ()

    def accepts(self, answer: str) -> bool:
        said = _without_lists(plain(answer), (self.label, *self.others))
        ours = [_first(said, plain(one)) for one in (self.label, *self.also)]
        here = min((place for place in ours if place is not None), default=None)
        places = [_first(said, plain(one)) for one in self.others]
        return here is not None and all(there is None or here < there for there in places)


class Choice(Struct, frozen=True, tag="choice"):
    """A letter of several, alone or first; or the words behind it, alone or at the end."""

    letter: str
    words: str = ""

    def accepts(self, answer: str) -> bool:
        said, words = plain(answer), plain(self.words)
        if words and re.sub(r"^(?:an?|the) ", "", said) == words:
            return True
        letter = re.match(r"(?:option |选项|选)?([a-j])(?![a-z])", said)
        if letter:
            return letter[1] == self.letter.casefold()
        if not words or len(said) > len(words) + 60:
            return False
        return re.search(rf"(?:\W|[是为]){re.escape(words)}$", said) is not None


class Listed(Struct, frozen=True, tag="listed"):
    """These, in this order or in any, divided by commas, semicolons, lines, arrows or 、 (by spaces
    where no item has one); what leads up to a colon is left out where no item has a colon."""

    items: tuple[str, ...]
    ordered: bool = True

    def accepts(self, answer: str) -> bool:
        said = _FENCE.sub(r"\1", answer.strip())
        if not any(":" in item or "：" in item for item in self.items):
            said = re.sub(r"^[^\n:：]{0,60}[:：]\s*", "", said)
        said = re.sub(
            r"^(?:the|here)\b[^,\n]{0,60}?\b(?:is|are)\b\s*", "", said, flags=re.IGNORECASE
        )
        if "\n" in said:
            said = re.sub(r"(?m)^\s*(?:\d+(?:[.)](?!\d)|、)|[-*•])\s*", "", said)
        parts = re.split(r"[,，;；、\n<>→]+|\s+and\s+|\s*->\s*|和", said.strip(_WRAP + "[]"))
        wanted = [plain(item) for item in self.items]
        if len(parts) == 1 and not any(" " in item for item in wanted):
            parts = parts[0].split()
        found = [plain(part) for part in parts if part.strip(_WRAP)]
        return found == wanted if self.ordered else sorted(found) == sorted(wanted)


class JsonIs(Struct, frozen=True, tag="json"):
    """JSON with this value; strings are compared as plain text. A fence around it is forgiven."""

    value: Any

    def accepts(self, answer: str) -> bool:
        said = _FENCE.sub(r"\1", answer.strip())
        try:
            return _same(json.loads(said), self.value)
        except (ValueError, RecursionError):
            return False


class Matches(Struct, frozen=True, tag="matches"):
    """The whole stripped answer matches this pattern."""

    pattern: str

    def accepts(self, answer: str) -> bool:
        return re.fullmatch(self.pattern, answer.strip(), re.DOTALL) is not None


class YesNo(Struct, frozen=True, tag="yes_no"):
    """Yes or no, by the first word that says either: "Yes", "True", "It does not", 是, 不会. The
    choice itself (`yes or no`, 是或否), repeated, is no answer."""

    yes: bool

    def accepts(self, answer: str) -> bool:
        said = _CHOICE.sub("", plain(answer))
        found = _YES_NO.search(said) or _YES_NO_ZH.search(said)
        return found is not None and (found.lastgroup == "yes") is self.yes


Check = (
    Exact
    | Holds
    | HoldsAll
    | Verbatim
    | Number
    | Ratio
    | Label
    | Choice
    | YesNo
    | Listed
    | JsonIs
    | Matches
)


def _numeric(answer: str) -> str:
    said = unicodedata.normalize("NFKC", answer.strip()).replace("−", "-").replace("\u2044", "/")
    said = re.sub(r"(?<=\d),(?=\d{3})", "", said)
    return re.sub(r"\^\{?-?\d+\}?|(?<=[a-zA-Z])\d+", "", said)


def _without_lists(said: str, labels: Sequence[str]) -> str:
    """The text without runs of three labels and more, or of all there are."""
    names = [rf"[\"'“‘「]?{re.escape(plain(label))}[\"'”’」]?" for label in labels]
    one = f"(?:{'|'.join(sorted(names, key=len, reverse=True))})"
    return re.sub(rf"{one}(?:{_OR}{one}){{{min(2, len(labels) - 1)},}}", "", said)


def _first(said: str, part: str) -> int | None:
    found = re.search(rf"(?<![0-9a-z]){re.escape(part)}(?![0-9a-z])", said)
    return None if found is None else found.start()


def _same(said: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return isinstance(said, str | int | float) and plain(str(said)) == plain(wanted)
    if isinstance(wanted, dict):
        return (
            isinstance(said, dict)
            and said.keys() == wanted.keys()
            and all(_same(said[key], value) for key, value in wanted.items())
        )
    if isinstance(wanted, Sequence):
        return isinstance(said, list) and len(said) == len(wanted) and all(map(_same, said, wanted))
    if isinstance(wanted, bool) or wanted is None:
        return said is wanted
    return isinstance(said, int | float) and abs(said - wanted) < 1e-6
