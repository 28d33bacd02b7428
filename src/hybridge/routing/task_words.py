"""How people ask for each task, in English and Chinese (data for `tasks`)."""

from __future__ import annotations

from collections.abc import Mapping

from hybridge.routing.phrases import Row

ASK = (  # where an English imperative may begin: at a sentence's start, after courtesies
    r"(?:^|[.!?;:。¤]|\b(?:and|then)\b)\s*(?:(?:hi|hello|hey|ok|okay|please|pls|kindly|just|now|so|could|can|would"
    r"|will|you|help|me|to|i|need|want|like|'d|us|quickly|your task is|task)[\s,:]+){0,8}"
)
LANGUAGES = (
    "english|chinese|mandarin|cantonese|french|german|spanish|japanese|korean|russian|italian"
    "|portuguese|arabic|latin|dutch|hindi|thai|vietnamese|turkish|polish|swedish|greek|hebrew"
    "|ukrainian|indonesian"
)
LANGUAGE = f"(?:{LANGUAGES})"
LANGUAGE_ZH = (
    r"(?:[英中法德俄日韩汉泰]语|[英中法德俄日韩]文|汉语|西班牙语|葡萄牙语|意大利语|阿拉伯语|越南语"
    r"|拉丁语|文言文?|白话文?)"
)
THIS_ZH = r"(?:这|那|下面|以下|下列|¤)"

LANGUAGE_DETECTION: tuple[Row, ...] = (
    ("language", (r"\b(?:what|which) language (?:is|are|does|was|were) "
     r"(?:this|that|it|these|the following|the text|the sentence|¤)")),
    ("language", (r"\b(?:this|text|sentence|following|¤)[^?\n]{0,30} in (?:what|which) language"
     r"|\b(?:what|which) language\?")),
    ("language", (r"\b(?:detect|identify|determine|guess|recogni[sz]e|name|tell me) "
     r"(?:the |which |what )?language\b|\blanguage (?:detection|identification)\b"
     r"|\blanguage of (?:this|that|the (?:following|text|sentence))")),
    ("什么|哪种|哪一种|哪国|何种", THIS_ZH + r"[^,。?\n]{0,20}(?:什么|哪种|哪一种|哪国|何种)的?"
     r"(?:语言|语种|文字|话|语)|是(?:什么|哪种|哪一种|哪国)(?:语言|语种|话)"),
    ("语言|语种", (r"(?:识别|检测|判断|辨别|确定)[^,。?\n]{0,16}(?:语言|语种)"
     r"|(?:语言|语种)(?:识别|检测)")),
)  # fmt: skip

KEYWORDS: tuple[Row, ...] = (
    ("keyword|key word|keyphrase|key phrase|key term|tags", (r"\b(?:extract|find|list|identify"
     r"|give|pull out|get|pick|generate|suggest|name|return|highlight)\b[^.?!\n]{0,40}"),
     r"\b(?:key ?words?|key ?phrases?|key terms|tags)\b"),
    ("keyword|key word", (r"\bwhat are the (?:main )?key ?words\b|\bkeyword extraction\b"
     r"|^key ?words?(?: of| from|:)")),
    ("词|关键字|短语|标签", (r"(?![^。?!\n]{0,30}(?:这些|段落|文章|一篇))"
     r"(?:提取|抽取|找出|找到|列出|给出|提炼|生成|标出|概括|归纳|摘取|选出)"
     r"[^。?!\n]{0,24}(?:关键词|关键字|主题词|关键短语|标签)"
     r"|(?:关键词|关键字)(?:提取|抽取|是什么|有哪些|:)")),
    ("키워드|キーワード", None),
)  # fmt: skip

CLASSIFICATION: tuple[Row, ...] = (
    ("classify|categori|label", ASK, (r"(?:classify|categori[sz]e|label)(?:(?= (?:this|that|these"
     r"|the (?!theorem|finite)|my|as|into|it|each|whether|if|text|sentence|review|email|message"
     r"|tweet|sentiment|intent|:|¤))|:)")),
    ("sentiment|emotion|tone|intent|category|topic", (r"\b(?:what(?:'s| is| are)|determine|detect"
     r"|identify|label|tell me|analy[sz]e|judge|decide|predict|rate)\b[^.?!\n]{0,30}"
     r"\b(?:sentiment|(?:emotion|tone|intent|category|topic)s? (?:of|in|:|is|expressed|does))"
     r"|\bsentiment(?: analysis| classification)?(?: of| for|:|\?)|\bwhich category\b")),
    ("positive|spam|negative|toxic|offensive", (r"\b(?:is|are)\b[^.?!\n]{0,40}"
     r"\b(?:positive|negative|spam|toxic|offensive)\b[^.!\n]{0,24}\?"
     r"|\bpositive(?:,| or|/| vs\.?)\s*(?:or )?(?:negative|neutral)|\bspam or (?:not|ham)")),
    ("情感|情绪|意图|类别|类型|语气|垃圾|面|极|义|评",
     (r"(?:判断|分析|识别|检测|标注|说出|告诉我|给出|预测)[^。?!\n]{0,30}(?:情感|情绪|意图|类别|类型|语气|垃圾(?:邮件|短信|信息)|正面|负面|积极"
     r"|消极|褒义|贬义|好评|差评)")),
    ("正面|积极|好评|褒义|正向", (r"(?:正面|积极|好评|褒义|正向)(?:还是|或者?|、|/)"
     r"(?:负面|消极|差评|贬义|负向|中性)")),
    ("情感|情绪|语气", (r"情感(?:分析|倾向|极性|分类|判断)[^的方技]"
     r"|(?:情感|情绪|语气)是(?:什么|怎样|正|积|消|负)")),
    ("属于", r"属于(?:哪|什么)一?个?(?:类|种类|类别|类型)"),
    ("分类|归类|归为|分到",
     (r"[把将对给为][^。?!:\n]{1,30}(?<!何)(?<!行文本)(?:分类|归类|归为|分到)"
     r"|(?:^|请|帮我|请帮我)(?:分类|归类)(?!学|器|法)")),
    ("垃圾", r"是(?:不是|否是?)垃圾(?:邮件|短信|信息)"),
)  # fmt: skip

CORRECTION: tuple[Row, ...] = (
    ("correct|fix|proof|spell", ASK, (r"(?:correct|fix|proof-?read|spell[- ]?check)\b"
     r"(?![^.?!\n]{0,40}\b(?:code|bug|function|script|program|query|test|build|compile|answer)\b)"
     r"(?=[^.?!\n]{0,60}\b(?:grammar|grammatical|spelling|typos?|punctuation|mistakes?|errors?"
     r"|sentences?|text|paragraph|english|this|following|email|wording)\b|[^.?!\n]{0,20}[:¤])")),
    ("grammar|spell|typo|punctuation", (r"\b(?:check|improve|correct|fix)\b[^.?!\n]{0,30}"
     r"\b(?:grammar|spelling|typos?|punctuation)\b"
     r"|\b(?:grammar|spelling|spell)[- ](?:check|correction)\b")),
    ("grammatically correct", None),
    ("字|语法|拼写|标点|病句|笔误|语病", (r"(?:纠正|改正|更正|修正|订正|校对|检查|修改|找出|改一?下"
     r"|改掉|有没有)(?![^。?!\n]{0,20}(?:代码|程序|脚本))[^。?!\n]{0,24}"
     r"(?:错别字|错字|别字|语法|拼写|标点|病句|笔误|语病)")),
    ("错别字|病句|错误|语病", (r"(?:错别字|病句|语法错误|拼写错误|语病)[^。?!\n]{0,10}"
     r"(?:改|纠|修|校|检查|找)")),
    ("纠错|校对|改错|改病句|修正|纠正|改正", (r"^(?:请|帮我|请帮我|麻烦)?"
     r"(?:纠错|校对|改错|改病句|修正|纠正|改正)")),
)  # fmt: skip

TRANSLATION: tuple[Row, ...] = (
    ("translate", ASK, (r"translate\b(?! (?:sequence|api|model))(?![^.?!\n]{0,60}\binto (?:an? )?"
     r"(?:[a-z]+ )?(?:formula|code|sql|query|python|java\w*|logic|regex|equation)\b)")),
    (f"{LANGUAGES} & how do|how would|how can|how to|how should", "",
     r"\bhow (?:do|would|can|does|to|should) (?:you |i |we |one )?(?:say|write)\b"
     r"[^.?!\n]{1,80}\bin " + LANGUAGE),
    (f"{LANGUAGES} & what's|what is", "",
     r"\bwhat(?:'s| is)\b[^.?!\n]{1,60}\bin " + LANGUAGE + r"\b\s*\??\s*$"),
    (LANGUAGES, r"^(?:in|to|into) ", LANGUAGE + r"\s*:"),
    ("translation", r"\btranslation (?:of|for) (?:this|¤)"),
    ("翻译", (r"翻译(?:成|为|到|至|一下|下|这|以下|:|¤|\s*$)"
     r"|(?:请|帮我|给我|麻烦)[你您]?翻译|^翻译")),
    ("译|翻成", r"译[成为作]" + LANGUAGE_ZH + r"|翻成" + LANGUAGE_ZH),
    ("怎么|怎样|如何", LANGUAGE_ZH + r"里?(?:怎么|怎样|如何)(?:说|讲|写|表达|翻译)"),
    ("语|文", r"的" + LANGUAGE_ZH + r"(?:翻译|是什么|怎么说|说法)"),
    ("翻译し|に訳し|译して|に译し|번역", None),
)  # fmt: skip

SUMMARISE: tuple[Row, ...] = (
    ("summar|sum up|condense|shorten", ASK + r"(?:summari[sz]e|sum up|condense|shorten"
     r"|(?:give|write|provide|create) (?:me )?(?:an? )?(?:[a-z]+ )?summary)\b"),
    ("tl;dr|tldr", None),
    ("总结|概括|概述|归纳", (r"(?:请|帮我|帮忙|给我|用[^。\n]{1,8}|一句话)[^。?!\n]{0,12}"
     r"(?:总结|概括|概述|归纳)|^(?:总结|概括|概述|归纳)")),
    ("摘要", r"(?:写|生成|提取|给出|给我)[^。?!\n]{0,16}摘要"),
    ("要约して|요약", None),
)  # fmt: skip

EXTRACTION: tuple[Row, ...] = (
    ("extract|pull out|parse", ASK, r"(?:extract|pull out|parse)\b"),
    ("提取|抽取|摘录|找出", (r"[从把将][^。?!\n]{1,40}(?:提取|抽取|摘录|找出)"
     r"|^(?:请|帮我|请帮我)?(?:提取|抽取|摘录)")),
)  # fmt: skip

WRITING: tuple[Row, ...] = (
    (("essay|story|stories|poem|haiku|sonnet|email|letter|blog|article|speech|song|lyrics|post"
     "|review|report|paragraph|script|dialogue|novel|tale|advertisement|slogan|proposal|resume|joke"
     " & write|compose|draft|create|make up|tell|continue|rewrite"), ASK, (
     r"(?:write|compose|draft|create"
     r"|make up|tell|continue|rewrite)\b[^.?!\n]{0,50}\b(?:essay|story|stories|poem|haiku|sonnet"
     r"|email|letter|blog|article|speech|song|lyrics|post|review|report|paragraph|script|dialogue"
     r"|novel|tale|advertisement|slogan|proposal|resume|joke)s?\b")),
    ("写|创作|撰|起草|拟|生成", (
     r"(?:写|创作|撰写|起草|拟|生成)[一个篇首封份段几出下点关][^。?!\n]{1,40}"
     r"|(?:请|帮我|以)[^。?!\n]{0,30}(?:写|创作)[^。?!\n]{0,20}"
     r"(?:作文|文章|诗|故事|邮件|小说|演讲|文案|报告)")),
    ("讲个|讲一个", r"讲一?个(?:故事|笑话)"),
)  # fmt: skip

WORDS: Mapping[str, tuple[Row, ...]] = {
    "language_detection": LANGUAGE_DETECTION,
    "keywords": KEYWORDS,
    "classification": CLASSIFICATION,
    "correction": CORRECTION,
    "translation": TRANSLATION,
    "summarise": SUMMARISE,
    "extraction": EXTRACTION,
    "writing": WRITING,
}
"""Where two begin at the same place, the earlier row names the task."""

GREETING = (
    r"hi+|hello|hey+|yo|howdy|greetings|hiya|good (?:morning|afternoon|evening|night|day)|morning"
    r"|nice to meet you|pleased to meet you|how are you(?: doing)?(?: today)?|how's it going"
    r"|what's up|thanks?(?: you)?(?: (?:so|very) much| a lot)?(?: for (?:all )?your help)?"
    r"|thx|cheers|bye|goodbye"
    r"|see you(?: later| tomorrow| soon)?|have a (?:nice|good|great) (?:day|one|weekend|evening)"
    r"|there|everyone|all|friend|again|today"
    r"|你好|您好|大家好|你们好|嗨|哈[喽啰罗]|喂|早上?好?|早安|[上中下]午好|晚上好|晚安|在吗|在不在|好久不见"
    r"|很?高兴(?:认识|见到)你|最近(?:怎么样|如何|好吗|还好吗)|吃了[吗没]|非常感谢|谢谢|多谢|感谢|辛苦了?"
    r"|(?:今天|近来)?过得(?:怎么样|如何|好吗)|今天|[你您]的帮[助忙]"
    r"|再见|拜拜|回头见|明天见|周末愉快|新年快乐|节日快乐|祝你(?:开心|愉快|好运)|朋友|老师|[你您了啊呀哦吗]"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます)?|はじめまして"
    r"|안녕(?:하세요)?|감사합니다|고마워요?"
    r"|bonjour|salut|hola|ciao|hallo|guten (?:tag|morgen|abend)|merci|gracias|danke"
)
"""What a turn that is nothing but a greeting or thanks is made of."""
