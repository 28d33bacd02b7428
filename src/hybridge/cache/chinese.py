"""Chinese questions in one wording; as in `english`, only what is listed here may differ."""

from __future__ import annotations

import re

from hybridge.cache.rewriting import Rule, first, once, rule, until_still

_TASK = r"(?:翻译|解释|介绍|说明|总结|概括|计算|列出|列举|写|推荐|讲|描述|比较|举)"
_ASKS = re.compile(
    r"(?<!没)(?<!没有)什么(?!都|也)|怎么(?!都|也)|哪(?!怕)|谁(?!都|也)|如何|多少(?!有)|几(?!乎)|何时|是否|能否"
    r"|吗$|多[高长远大久重深宽快]"
)
"""Words of a question, so that its mark says nothing more."""
_ASKED = r"(?=.*(?:什么|怎么|哪|谁|如何|为|多|几|何))"
_TONGUES = r"(?:英语|法语|德语|日语|韩语|俄语|西班牙语|意大利语|中文|阿拉伯语|葡萄牙语)"
_OF = (
    r"(?:首都|省会|人口|面积|国旗|国歌|货币|作者|定义|含义|原因|作用|优点|缺点|优缺点|历史|"
    r"价格|天气|颜色|公式|全称|简称|英文名|高度|长度|重量|年龄|生日)"
)
"""Nouns before which 的 tells nothing: 法国的首都 is 法国首都, but 中国的银行 is not 中国银行."""


_POLITE: tuple[Rule, ...] = (
    rule(r"^(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好)[呀啊]?[,!.]", ""),
    rule(r"^(?:请问|请教)(?:一下)?[,:]?", ""),
    rule(rf"^请,?(?=你|您|告诉|帮|用|把|将|简|详|{_TASK})", ""),
    rule(rf"^麻烦(?:你|您)?[,]?(?=帮我|告诉我|{_TASK})", ""),
    rule(rf"^(?:帮我|帮忙|给我)(?={_TASK})", ""),
    rule(
        rf"^(?:你|您)?(?:能不能|能否|可不可以|可以|能)请?(?=(?:帮我|给我|告诉我|跟我说|{_TASK}))(.+?)吗?$",
        r"\1",
    ),
    rule(rf"^我?(?:想|想要)(?:知道|问|问问|请教|了解)(?:一下|下)?[,:]?{_ASKED}", ""),
    rule(rf"^(?:谁能|有人能)?(?:告诉我|跟我说说?)[,:]?{_ASKED}", ""),
    rule(rf"^(?:告诉我|我想知道)(.+{_OF})$", r"\1是什么"),
    rule(r"^(?:你|您)?知道(.*(?:什么|怎么|哪|谁|如何|为什么|多少|几|何时).*?)吗$", r"\1"),
    rule(r"[,.!?](?:谢谢|多谢|感谢)(?:你|您|了|啦)?$", ""),
    rule(r"(?<=[^吗])[呀啊哦哈]$", ""),
)  # fmt: skip
"""Repeated until none of them applies."""

_WORDS: tuple[Rule, ...] = (
    rule(r"您", "你"),
    rule(r"(解释|介绍|说明|翻译|总结|讲|描述|查|计算|列举)一下", r"\1"),
    rule(r"啥", "什么"),
    rule(r"为何|为什么", "为什么"),
    rule(r"什么时候|什么时间", "何时"),
    rule(r"哪儿|什么地方|何处", "哪里"),
    rule(r"在哪(?![里个些座种年天国家方位一])", "在哪里"),
    rule(r"哪位", "谁"),
    rule(r"英文(?=怎|如|$|是|翻)", "英语"),
    rule(r"日文(?=怎|如|$|是|翻)", "日语"),
    rule(r"法文(?=怎|如|$|是|翻)", "法语"),
    rule(r"德文(?=怎|如|$|是|翻)", "德语"),
    rule(r"怎样|怎么样(?=.)", "如何"),
    rule(r"怎么(?![会能可这那还又不没了样回办啦都就是想看着])", "如何"),
    rule(r"如何$", "怎么样"),
    rule(r"有什么|有些什么", "有哪些"),
    rule(r"与|跟", "和"),
    rule(r"使用", "用"),
    rule(r"翻译为(?!什么|何)|(?<!翻)译成|译为(?!什么|何)|翻成", "翻译成"),
    rule(rf"的(?={_OF})", ""),
)
"""Other spellings of the very same word, and words that tell nothing. Applied once each."""

_FORMS: tuple[Rule, ...] = (
    rule(r"^(?:什么是|何为|何谓|什么叫做?|解释什么是)(.+)$", r"\1是什么"),
    rule(r"^(.+?)指的?是什么$", r"\1是什么"),
    rule(r"^(.+首都)是(?:哪里|哪个城市|哪座城市|什么城市|哪)$", r"\1是什么"),
    rule(r"^谁写了(.+)$", r"\1作者是谁"),
    rule(r"^(.+)是谁写的$", r"\1作者是谁"),
    rule(r"^(.+)是谁(发明|发现|画|创立|创建|建造|设计)的$", r"谁\2了\1"),
    rule(r"^(.+)如何做$", r"如何做\1"),
    rule(
        r"^(.+)和(.+?)(?:之间)?(?:有哪些|有何|的)(?:区别|差别|不同)(?:是什么|在哪里|有哪些)?$",
        r"\1和\2的区别",
    ),
    rule(r"^(.+?)(?:有多少人口|人口有多少|人口是多少|人口多少)$", r"\1人口多少"),
    rule(r"^(.+?)(?:价格是多少|要多少钱|卖多少钱|多少钱)$", r"\1多少钱"),
    rule(r"^(.+?)(?:高度是多少|有多高|多高)$", r"\1多高"),
    rule(r"^(.+?)(?:长度是多少|有多长|多长)$", r"\1多长"),
    rule(r"^(.+?)(?:面积是多少|面积有多大|面积多大)$", r"\1面积多少"),
    rule(r"^从?(.+到.+?)(?:的?距离是多少|有多远|多远)$", r"\1多远"),
    rule(r"^[把将](.+翻译成.+)$", r"\1"),
    rule(
        rf"^(.+?)(?:用|的|(?<=[”\"」』]))({_TONGUES})(?:怎么说|如何说|怎么讲|如何讲|是什么)$",
        r"\1翻译成\2",
    ),
    rule(rf"^翻译(.+)成({_TONGUES})$", r"\1翻译成\2"),
)  # fmt: skip
"""One of them at most."""


def chinese(text: str) -> str:
    """The one wording of a question; `text` holds no blanks but between Latin words."""
    bare = text.rstrip("?!.")
    asked = "?" in text[len(bare) :]
    bare = until_still(_POLITE, bare)
    bare = once(_WORDS, bare)
    if _ASKS.search(bare):
        asked = False  # the words say so
        bare = bare.removesuffix("呢")
    bare = first(_FORMS, bare)
    return f"{bare}?" if asked else bare
