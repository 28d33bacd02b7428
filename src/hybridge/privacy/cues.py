"""Words that make a number what it is, in Chinese and English, or say that it is something else.

Latin words are matched as substrings on purpose where a number may be glued to them (`phone138…`);
`\\b` is of no use beside Chinese characters.
"""

from __future__ import annotations

import re


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


IDENTITY = _words(
    r"身份证|证件号|证件|身分证|公民身份|id.?card|identity|identification|national id"
    r"|\bid (?:no|number)|国籍"
)
CARD = _words(r"卡号|银行卡|信用卡|储蓄卡|工资卡|账号|帐号|账户|户名|card|visa|master|amex|卡")
CARD_FOR_SURE = _words(
    r"银行卡|信用卡|储蓄卡|工资卡|卡号|账号|帐号|账户"
    r"|(?:credit|debit|bank|card) ?(?:card|no|number|account)"
)
PHONE = _words(
    r"电话|手机|联系方式|号码|致电|拨打|来电|電話|携帯|연락처|전화"
    r"|tel|phone|mobile|call|cell|whats|contact|reach me|text me"
)
PASSPORT = _words(r"护照|通行证|回乡证|台胞证|passport")
SOCIAL_SECURITY = _words(r"ssn|social.?sec")
SOCIAL_CREDIT = _words(r"信用代码|税号|纳税人识别|uscc|credit code|tax (?:id|no)")
EMAIL = _words(r"邮箱|邮件|邮址|e-?mail")
LOGIN = _words(
    r"log(?:ged|in)|client|remote|visitor|user|my ip|\bip ?[=:]|addr"
    r"|登录|用户|客户|访客|来访|我的|来源"
)
SOMETHING_ELSE = _words(
    r"订单|单号|流水|快递|运单|物流|编号|序列号|货号|条码|交易号|时间戳|版本|雪花|计算|除以|乘以|求|质因数"
    r"|isbn|order|tracking|invoice|sku|barcode|serial|version|timestamp|part number|doi|arxiv"
    r"|prime|divided|factor|compute|\bid\b"
)
"""Order numbers, serial numbers, versions, sums."""
