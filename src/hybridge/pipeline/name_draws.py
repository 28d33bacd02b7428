"""Draws names of many origins, and capitalised words that are nobody's name."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from faker import Faker

KNOWN: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "assets" / "name_words.json").read_text(encoding="utf-8")
)
"""Words by kind. Names too, of origins whose locales Faker does not write in Latin letters."""
ENGLISH = ("en_US", "en_GB", "en_IN", "en_AU", "en_CA", "en_IE", "en_NZ")
OTHERS = (
    *("de_DE", "fr_FR", "es_ES", "es_MX", "es_CO", "it_IT", "pt_BR", "pt_PT", "nl_NL", "sv_SE"),
    *("da_DK", "no_NO", "fi_FI", "pl_PL", "cs_CZ", "sk_SK", "hu_HU", "ro_RO", "hr_HR", "sl_SI"),
    *("tr_TR", "id_ID", "et_EE", "lt_LT", "lv_LV", "fil_PH", "yo_NG", "zu_ZA", "tw_GH", "vi_VN"),
)
"""Those that are written in Latin letters."""
_LOCALES = (*ENGLISH, "en_US", "en_US", "en_GB", *OTHERS)
_WITH_ADDRESSES = ("en_US", "en_US", "en_GB", "en_CA", "de_DE", "fr_FR", "es_ES", "it_IT", "sv_SE")
_DATES = ("%Y-%m-%d", "%d/%m/%Y", "%B %d, %Y", "%d %b %Y")


class Draws:
    """The same names for the same seed."""

    def __init__(self, rng: random.Random, locales: Sequence[str] = _LOCALES) -> None:
        """`locales`: where people come from, each as often as it is in there."""
        self.rng = rng
        self._locales = locales
        self._seed = rng.randrange(1 << 30)
        self._fakers: dict[str, Faker] = {}
        english = self._faker("en_US")
        self._others: dict[str, Callable[[], object]] = {
            "i": lambda: rng.choice(KNOWN["titles"]),
            "o": self._company,
            "c": self._place,
            "w": lambda: rng.choice(KNOWN["products"]),
            "g": lambda: rng.choice(KNOWN["peoples"]),
            "b": self._phrase,
            "j": lambda: rng.choice((str.lower, str))(english.job().split(",")[0]),
            "a": lambda: self._at_home().street_address().replace("\n", rng.choice((" ", "\n"))),
            "e": english.email,
            "t": lambda: self._at_home().phone_number(),
            "d": lambda: english.date(rng.choice(_DATES)),
            "n": lambda: rng.randrange(1, rng.choice((10, 100, 5000))),
            "m": self._month_or_day,
            "k": lambda: self.other(rng.choice("ocwwgbb")),
        }

    def pair(self) -> tuple[str, str]:
        """First and last name, nearly always of one origin."""
        chance = self.rng.random()
        if chance < 0.07:
            return self.rng.choice(KNOWN["chinese_first"]), self.rng.choice(KNOWN["chinese_last"])
        if chance < 0.12:
            return self.rng.choice(KNOWN["arabic_first"]), self.rng.choice(KNOWN["arabic_last"])
        faker = self._anywhere()
        other = self._anywhere() if chance < 0.15 else faker
        return str(faker.first_name()), str(other.last_name())

    def person(self) -> str:
        """In one of the forms in which people are called."""
        first, last = self.pair()
        form = self.rng.random()
        if form < 0.62:
            name = f"{first} {last}"
        elif form < 0.72:
            initial = self.rng.choice("ABCDEFGHJKLMNPRSTW") + self.rng.choice((".", ".", ""))
            name = f"{first} {initial} {last}"
        elif form < 0.77:
            name = f"{first} {self.pair()[0]} {last}"
        elif form < 0.81:
            name = f"{first[0]}. {last}"
        elif form < 0.85:
            name = f"{last}, {first}"
        else:
            name = first if form < 0.95 else last
        return name.upper() if self.rng.random() < 0.03 else name

    def other(self, kind: str) -> str:
        """What stands in a template's place of this kind and is no name."""
        return str(self._others[kind]())

    @staticmethod
    def english() -> tuple[set[str], set[str]]:
        """First and last names that are common where English is spoken."""
        first, last = set[str](), set[str]()
        for locale in ("en_US", "en_GB", "en_IN"):
            lists = import_module(f"faker.providers.person.{locale}").Provider
            first.update(lists.first_names)
            last.update(lists.last_names)
        return first, last

    def _faker(self, locale: str) -> Faker:
        if locale not in self._fakers:
            self._fakers[locale] = Faker(locale)
            self._fakers[locale].seed_instance(f"{self._seed} {locale}")
        return self._fakers[locale]

    def _anywhere(self) -> Faker:
        return self._faker(self.rng.choice(self._locales))

    def _at_home(self) -> Faker:
        return self._faker(self.rng.choice(_WITH_ADDRESSES))

    def _company(self) -> str:
        return str(self._faker(self.rng.choice(("en_US", "en_US", "en_GB", "de_DE"))).company())

    def _place(self) -> str:
        if self.rng.random() < 0.55:
            return self.rng.choice(KNOWN["places"])
        city = self._faker(self.rng.choice(("en_US", "en_GB", "en_AU", "de_DE", "fr_FR"))).city
        return str(self.rng.choice((city, self._faker("en_US").country))())

    def _month_or_day(self) -> str:
        english = self._faker("en_US")
        return str(self.rng.choice((english.month_name, english.day_of_week))())

    def _phrase(self) -> str:
        if self.rng.random() < 0.7:
            return self.rng.choice(KNOWN["things"])
        return str(self._faker("en_US").catch_phrase()).title()
