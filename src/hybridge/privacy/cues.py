"""Words that make a number what it is, in Chinese and English, or say that it is something else.

They are searched in lower case, and Latin ones as substrings on purpose where a number may be glued
to them (`phone138…`); `\\b` is of no use beside Chinese characters.
"""

from __future__ import annotations

import re

from hybridge.privacy.words import any_word

_ID = "i(?<![a-z0-9_]i)d"
"""The word `id` on its own."""


def _any(*words: str, alone: str = "") -> re.Pattern[str]:
    """One of the words, or the pattern `alone`, which has to begin with a letter."""
    somewhere = any_word(word for row in words for word in row.split("|"))
    return re.compile(f"{somewhere}|{alone}" if alone else somewhere)


_IDENTITY = (
    "身份证|证件|身分证|公民身份|国籍|idcard|id card|id-card|identity|identification|national id"
)
_IDENTITY_ALONE = f"{_ID} (?:no|number)"
_CARD = "卡|账号|帐号|账户|户名|card|visa|master|amex"
_CARD_FOR_SURE = (
    "银行卡|信用卡|储蓄卡|工资卡|卡号|账号|帐号|账户",
    *(
        f"{whose}{gap}{what}"
        for whose in ("credit", "debit", "bank", "card")
        for gap in ("", " ")
        for what in ("card", "no", "number", "account")
    ),
)
_PHONE = (
    "电话|手机|联系方式|号码|致电|拨打|来电|電話|携帯|연락처|전화",
    "tel|phone|mobile|call|cell|whats|contact|reach me|text me|fax",
)
_SOCIAL_SECURITY = "ssn|social sec|social-sec|socialsec|social_sec"

IDENTITY = _any(_IDENTITY, alone=_IDENTITY_ALONE)
CARD = _any(_CARD)
CARD_FOR_SURE = _any(*_CARD_FOR_SURE)
PHONE = _any(*_PHONE)
SOCIAL_SECURITY = _any(_SOCIAL_SECURITY)
NUMBER = _any(
    *(_IDENTITY, _CARD, *_CARD_FOR_SURE, *_PHONE, _SOCIAL_SECURITY), alone=_IDENTITY_ALONE
)
"""Any of these: asked first, since most numbers have no such word beside them."""
PASSPORT = _any("护照|通行证|回乡证|台胞证|passport")
SOCIAL_CREDIT = _any("信用代码|税号|纳税人识别|uscc|credit code|tax id|tax no")
EMAIL = _any("邮箱|邮件|邮址|email|e-mail")
LOGIN = _any(
    "logged|login|client|remote|visitor|user|my ip|addr|登录|用户|客户|访客|来访|我的|来源",
    alone="i(?<![a-z0-9_]i)p ?[=:]",
)
SOMETHING_ELSE = _any(
    "订单|单号|流水|快递|运单|物流|编号|序列号|货号|条码|交易号|时间戳|版本|雪花|计算|除以|乘以|求|质因数",
    "isbn|order|tracking|invoice|sku|barcode|serial|version|timestamp|part number|doi|arxiv",
    "prime|divided|factor|compute",
    alone=f"{_ID}(?![a-z0-9_])",
)
"""Order numbers, serial numbers, versions, sums."""
