"""English questions in one wording: only what is listed here may differ between two of them.

Nothing is dropped by kind, as a stop word or by its stem: a list of what may go is safe, a list of
what must stay (numbers, names, negations, antonyms, the order of words ...) is never complete.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hybridge.cache.english_words import (
    ACRONYMS,
    BEGINNINGS,
    CAPITALS_MATTER,
    ENDINGS,
    ENGLISH,
    IS,
    MAKERS,
    MEASURES,
    SAME,
    SHORT,
)
from hybridge.cache.rewriting import Rule, once, rule, until_still

_SPLIT_OFF = ".,;:!?()[]"
_WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
_ORDINARY = re.compile(r"[A-Z]?[a-z]+(?:['-][A-Z]?[a-z]+)*")
"""Words whose capital may only tell where they stand. `camelCase` is a name."""
_WH = r"(?:what|who|whose|where|when|why|how|which)"
_ASKED_FOR = (
    r"(?:tell|explain|describe|show|give|list|name|translate|summarize|write|define|calculate"
    r"|compute|convert|compare|help)"
)
_LANGUAGES = (
    r"(?:english|french|german|spanish|italian|portuguese|chinese|japanese|korean|russian|arabic"
    r"|latin|greek|dutch|swedish|hindi|turkish)"
)
_HOW_MUCH = (
    r"(?:many|much|long|far|often|old|big|fast|tall|high|deep|large|small|quick|quickly|well|hard"
    r"|soon|few|little|good|bad|strong|hot|cold|heavy|wide|late|early|close|near|bright|dark|true)"
)
_OF_THE_ASKED = (
    r"(?:feel|think|work|know|do|like|want|function|learn|remember|see|differ|compare|decide|mean"
    r"|believe|understand|sound|look|live|sleep|help|answer|respond)"
)
"""After "how do you", what somebody wants to know of the model itself."""


_POLITE: tuple[Rule, ...] = (
    rule(r"^(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there)? [,!.] ", ""),
    rule(r"^(?:so|well|ok|also|now|quick question|a question) [,:] ", ""),
    rule(rf"^(?:please|kindly) (?:, )?(?=(?:{_WH}|{_ASKED_FOR}|can|could|in|i)\b)", ""),
    rule(rf"^(?:can|could|would|will) you (?:please |kindly )?(?:, )?(?={_ASKED_FOR}\b)", ""),
    rule(rf"^i (?:want|need|wish|would like) (?:you )?to (?={_ASKED_FOR}\b)", ""),
    rule(rf"^i (?:want|need|wish|would like) to (?:know|understand|find out) (?={_WH}\b)", ""),
    rule(rf"^(?:i am|i was) (?:curious|wondering) (?={_WH}\b)", ""),
    rule(rf"^do you (?:happen to )?know (?={_WH}\b)", ""),
    rule(rf"^(?:help me (?:to )?understand|let me know|any idea) (?={_WH}\b)", ""),
    rule(rf"^(?:tell|show|teach)(?: to)? me (?={_WH}\b)", ""),
    rule(rf"^(?:explain|describe) (?:to me )?(?={_WH}\b)", ""),
    rule(r"^help me (?:to )?(?=translate|summarize|write|define|calculate|compute|convert)", ""),
    rule(r"^(?:tell|give) me (?=the [^ ]+(?: [^ ]+)? of )", "what is "),
    rule(r"^i (?:want|need|would like) to know (?=the [^ ]+(?: [^ ]+)? of )", "what is "),
    rule(r" , please$", ""),
    rule(r"(?<! say)(?<! spell)(?<! write)(?<! type)(?<! of)(?<! is)(?<! word) please$", ""),
    rule(r" [,?.!] (?:thanks|thank you)(?: (?:so much|a lot|very much|in advance))?$", ""),
)
"""Repeated until none of them applies."""

_FORMS: tuple[Rule, ...] = (
    rule(rf"^in (?!{_LANGUAGES} )([^ ,]+(?: [^ ,]+)?) , (.+)$", r"\2 in \1"),
    # What is said of a thing, asked in another order.
    rule(r"^(what|who|where) (?!is |are |do |does )(.+) (is|are)$", r"\1 \3 \2"),
    rule(r"^why (?!is |are |do |does )(.+) (is|are) ([^ ]+)$", r"why \2 \1 \3"),
    rule(r"^what (is|are) ([^ ]+(?: [^ ]+)?) 's ([^ ]+)$", r"what \1 the \3 of \2"),
    rule(r"^what (?:is|are) the meaning of (.+)$", r"what does \1 mean"),
    rule(r"^(?:give|tell) me (?:the|a) definition of (.+)$", r"define \1"),
    rule(r"^what is the definition of (.+)$", r"define \1"),
    rule(r"^(?:what|which) city is the capital of (.+)$", r"what is the capital of \1"),
    rule(r"^where is (.+) located$", r"where is \1"),
    rule(r"^what is the location of (.+)$", r"where is \1"),
    rule(r"^how many people live in (.+)$", r"what is the population of \1"),
    rule(r"^how much does (.+) cost$", r"what is the price of \1"),
    rule(
        rf"^how ({'|'.join(MEASURES)}) is (.+)$",
        lambda found: f"what is the {MEASURES[found[1]]} of {found[2]}",
    ),
    rule(
        rf"^who (?:is|was) the ({'|'.join(MAKERS)}) of (.+)$",
        lambda found: f"who {MAKERS[found[1]]} {found[2]}",
    ),
    # Differences.
    rule(
        r"^(?:what (?:is|are) )?(?:the )?differences? between (?!\d)(.+ and .+)$",
        r"how do \1 differ",
    ),
    rule(r"^how (?:does|do) ([^ ]+) differ from ([^ ]+)$", r"how do \1 and \2 differ"),
    rule(r"^how (?:is|are) ([^ ]+) different from ([^ ]+)$", r"how do \1 and \2 differ"),
    # Ways to do something.
    rule(r"^how (?:do|can) (?:i|we) (?!be |have |get so )", "how to "),
    rule(rf"^how (?:do|can) you (?!{_OF_THE_ASKED}\b)", "how to "),
    rule(r"^what is (?:the|a) way to ", "how to "),
    # How and what something does.
    rule(
        rf"^(how|why|when|where|what) does (?!{_HOW_MUCH}\b)"
        r"(.+(?:[aeiou]y|[^aeiosxzyh ]|[^csu]h|e))$",
        r"\1 \2s",
    ),
    rule(rf"^(how|why|when|where) do (?!{_HOW_MUCH}\b)(.+)$", r"\1 \2"),
    # Tasks.
    rule(rf"^translate (.+) to ({_LANGUAGES})$", r"translate \1 into \2"),
    rule(rf"^how to say (.+) in ({_LANGUAGES})$", r"translate \1 into \2"),
    rule(r"^(?:list|name|give me|tell me) (\d+|two|three|four|five|six|ten) ", r"list \1 "),
    rule(r"^(?:give me|show me|what is) an example of ", "an example of "),
    rule(r"^(?:calculate|compute|what is|how much is) (?=[\d(])", "= "),
    rule(r"^what ([\d(][^a-wyz]*) equals$", r"= \1"),
    # An article that tells nothing.
    rule(r"\bthe (?=[^ ]+(?: [^ ]+)? of )", ""),
)
"""Applied once each, in this order."""

_ASKS = re.compile(
    rf"(?:{_WH}|is|are|does|did|can|could|will|would|should|has|was|were|translate|define"
    r"|(?:do|have) (?:i|we|you|they))\b"
)
"""How a question begins, so that its mark says nothing more."""
_MARKS = re.compile(r"(?: [?!.])+$")
_SUM = re.compile(r"(?:= )?((?:[\d.()+*/^% ×÷-]|(?<=[\d )])x(?=[\d (]))*\d[\d.()%]*)(?: ?=)?")
_OPERATORS = str.maketrans("x×÷", "**/")


def is_english(words: Sequence[str]) -> bool:
    """Whether a text, as words, is English enough to be read here."""
    return any(word.lower().removesuffix("'s").strip(_SPLIT_OFF) in ENGLISH for word in words)


def english(chunks: Sequence[str]) -> str:
    """The one wording of a question, from what stands between its blanks."""
    text = " ".join(token for chunk in chunks for token in _tokens(chunk))
    marks = _MARKS.search(text)
    asks = marks is not None and "?" in marks[0]
    text = once(_FORMS, until_still(_POLITE, text if marks is None else text[: marks.start()]))
    sum_found = _SUM.fullmatch(text)
    if sum_found:
        return "= " + re.sub(r" ?([-+*/^%]) ?", r"\1", sum_found[1].translate(_OPERATORS))
    return text if not asks or _ASKS.match(text) else f"{text} ?"


def _tokens(chunk: str) -> list[str]:
    core = chunk.lstrip("([")
    before = list(chunk[: len(chunk) - len(core)])
    word = core.rstrip(_SPLIT_OFF)
    after = list(core[len(word) :])
    return [*before, *_word(word), *after]


def _word(word: str) -> list[str]:
    if not _WORD.fullmatch(word):
        return [re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", word)] if word else []
    return _spelled("i" if word == "I" else in_small(word)).split()


def in_small(word: str) -> str:
    """A word without capitals, where they do not make another word of it."""
    low = word.lower()
    stem = low.removesuffix("'s")
    ordinary = _ORDINARY.fullmatch(word) and stem not in CAPITALS_MATTER
    return low if ordinary or stem in ACRONYMS else word


def names(chunks: Sequence[str]) -> tuple[str, ...] | None:
    """The words with capitals, but for those that begin a sentence, in their order; None where the
    text does not even begin with one, for then its writer does not use them."""
    words = [chunk.strip(_SPLIT_OFF + "'").removesuffix("'s") for chunk in chunks]
    named = [word for word in words[1:] if word not in ("I", word.lower())]
    named = [word for word in named if word.lower() not in BEGINNINGS]
    return tuple(named) if named or words[0] != words[0].lower() else None


def _spelled(word: str) -> str:
    if word in SHORT or word in SAME:
        return SHORT.get(word) or SAME[word]
    stem, apostrophe, ending = word.partition("'")
    if apostrophe and ending == "s":
        return f"{stem} is" if stem in IS else f"{stem} 's"
    if word == "i'd":
        return "i would"
    for short, full in ENDINGS:
        if word.endswith(short):
            return word.removesuffix(short) + full
    return word
