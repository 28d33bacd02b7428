"""Lists of English words that `english` reads questions with."""

from __future__ import annotations

_CAPITALS_MATTER_WORDS = (
    "amazon apple august bath bill black brown bush china chrome cook cork discord dodge earth "
    "edge excel ford frank gap go god grace green hill hope hunter jack jaguar java job joy king "
    "line lily mark march mars may mercury meta mini mobile moon nice opera oracle orange pat "
    "polish prince queen reading rob rose rust safari saturn shell signal slack smart square stone "
    "stripe sue sun swift target teams turkey uber venus visa white will windows wood word young "
    "zoom"
)
CAPITALS_MATTER = frozenset(_CAPITALS_MATTER_WORDS.split())
"""Words that name something else with a capital, however the rest of a text is written."""
_ACRONYMS_WORDS = (
    "ai api atm aws cia cpu crud css csv dna dns fbi gcp gdp gif gpt gpu gps html http https ios "
    "iot jpg json jwt kpi llm nasa nato nba nfl orm pdf php png rna sdk sql ssh ssl svg tcp tls tv "
    "udp uk url usa usb vpn ww1 ww2 wwi wwii xml yaml"
)
ACRONYMS = frozenset(_ACRONYMS_WORDS.split())
"""Words of capitals that are no other word without them: a US, an IT or a WHO is not here."""

_ENGLISH_WORDS = (
    "the is are what how why where when which who whose does did can should of please explain tell "
    "calculate compute convert define give show solve translate write summarize summarise"
)
ENGLISH = frozenset(_ENGLISH_WORDS.split())
"""One of these must be there: other languages in Latin letters are not read."""

SAME = {
    "advert": "advertisement", "analyse": "analyze", "automobile": "car", "behaviour": "behavior",
    "centre": "center", "colour": "color", "colours": "colors", "cellphone": "mobile phone",
    "e-mail": "email", "favourite": "favorite", "flavour": "flavor", "fridge": "refrigerator",
    "info": "information", "js": "javascript", "kids": "children", "kid": "child",
    "kilometre": "kilometer", "kilometres": "kilometers", "litre": "liter", "litres": "liters",
    "maths": "mathematics", "math": "mathematics", "metre": "meter", "metres": "meters",
    "nyc": "new york city", "occurs": "happens", "occur": "happen", "okay": "ok",
    "optimise": "optimize", "organise": "organize", "photograph": "photo", "photographs": "photos",
    "pls": "please", "plz": "please", "recognise": "recognize",
    "repo": "repository", "repos": "repositories", "summarise": "summarize", "theatre": "theater",
    "thx": "thanks", "tv": "television", "uk": "united kingdom", "usa": "united states",
    "vs": "versus", "ww1": "world war i", "ww2": "world war ii", "wwi": "world war i",
    "wwii": "world war ii",
}  # fmt: skip
"""Other spellings and short forms of the very same word."""
SHORT = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
    "let's": "let us", "i'm": "i am",
}  # fmt: skip
"""Contractions that are not made by a rule."""
ENDINGS = (("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"))
_IS_WORDS = "what who where when why how that it there here"
IS = frozenset(_IS_WORDS.split())
"""What an apostrophe and an s make an `is` after; after other words it tells whose."""

_BEGINNINGS_WORDS = (
    "what who whose where when why how which is are do does did can could will would should please "
    "tell explain describe show give list name translate summarize write define calculate compute "
    "convert compare help thanks thank hi hello hey in"
)
BEGINNINGS = frozenset(_BEGINNINGS_WORDS.split())
"""Words that may begin a sentence within a text, such as one after a greeting."""
MAKERS = {
    "author": "wrote", "composer": "composed", "discoverer": "discovered", "founder": "founded",
    "inventor": "invented", "painter": "painted",
}  # fmt: skip
MEASURES = {
    "old": "age", "tall": "height", "heavy": "weight", "deep": "depth", "wide": "width",
}  # fmt: skip
