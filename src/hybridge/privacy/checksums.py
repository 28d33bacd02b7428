"""Check digits. They are evidence, never a gate: most long numbers in the wild are mistyped."""

from __future__ import annotations

from operator import mul

_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECK = "10X98765432"
_PROVINCES = frozenset(
    {
        *(11, 12, 13, 14, 15, 21, 22, 23, 31, 32, 33, 34, 35, 36, 37, 41, 42, 43, 44, 45, 46),
        *(50, 51, 52, 53, 54, 61, 62, 63, 64, 65, 71, 81, 82, 83, 91),
    }
)
_USCC_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_USCC_VALUES = bytes(_USCC_ALPHABET.encode().find(letter) & 0xFF for letter in range(256))
_USCC_WEIGHTS = (1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28)
_IBAN_REGISTRY = (
    "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 "
    "CZ:24 DE:22 DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 "
    "GR:27 GT:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 "
    "LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 "
    "PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 SC:31 SE:24 SI:19 SK:24 SM:27 ST:25 "
    "SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20"
)
"""ISO 13616: countries and the lengths of their IBANs."""
_IBAN_LENGTHS = {row[:2]: int(row[3:]) for row in _IBAN_REGISTRY.split()}


_ZERO = ord("0")
_DOUBLED = str.maketrans("0123456789", "0246813579")
"""Twice the digit, and of that the sum of its digits."""


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1 annex B: bank cards."""
    once, twice = digits[-1::-2], digits[-2::-2].translate(_DOUBLED)
    return (sum((once + twice).encode()) - _ZERO * len(digits)) % 10 == 0


def date(digits: str) -> bool:
    """Whether YYYYMMDD could be the birthday of someone alive."""
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    return 1900 <= year <= 2035 and 1 <= month <= 12 and 1 <= day <= 31


def province(digits: str) -> bool:
    """GB/T 2260: whether the first two digits name a Chinese province."""
    return int(digits[:2]) in _PROVINCES


def chinese_id(number: str) -> bool:
    """GB 11643: 17 digits and a check character, which may be X or x."""
    total = sum(map(mul, number.encode(), _ID_WEIGHTS)) - _ZERO * sum(_ID_WEIGHTS)
    return _ID_CHECK[total % 11] == number[17].upper()


def social_credit_code(code: str) -> bool:
    """GB 32100: 18 characters without I, O, S, V, Z, the last one the check character."""
    values = code.encode().translate(_USCC_VALUES)
    if max(values) >= len(_USCC_ALPHABET):
        return False
    total = sum(map(mul, values, _USCC_WEIGHTS))
    return bool((31 - total % 31) % 31 == values[17])


def iban(account: str) -> bool:
    """ISO 13616: the country's length, and 1 modulo 97."""
    if _IBAN_LENGTHS.get(account[:2]) != len(account):
        return False
    moved = account[4:] + account[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1
