"""How work that needs reasoning shows in a text, in English and Chinese (data for `signs`)."""

from __future__ import annotations

from collections.abc import Mapping

from hybridge.routing.phrases import Row

PROOF: tuple[Row, ...] = (
    ("prov|disprov", "", r"\b(?:dis)?prov(?:e|ing)\b(?! to be\b)"),
    ("proof", (r"\bproofs? (?:of|that|for|by|using|sketch)\b"
     r"|\b(?:formal|rigorous|mathematical|complete|short|an?|the|with|full)\s+proof\b")),
    ("show that|deriv", "", r"\bshow that\b|\bderiv(?:e|ation)\b(?! from\b)"),
    ("theorem|lemma|induction|contradiction", (r"\btheorem\b|\blemma\b"
     r"|\bby (?:mathematical )?(?:induction|contradiction)\b")),
    ("证明", (r"(?<!收入)(?<!在职)(?<!离职)(?<!身份)(?<!居住)(?<!工作)(?<!出生)(?<!存款)(?<!学历)"
     r"证明(?!书|文件|材料|信|函|人)")),
    ("求证|反证|推导|论证|归纳法|定理|증명|유도하", None),
)  # fmt: skip

STEP_BY_STEP: tuple[Row, ...] = (
    ("step|detailed step", "", r"\bstep[- ]by[- ]step\b|\bdetailed steps\b"),
    ("show your|explain your", "", r"\b(?:show|explain) your (?:work|working|reasoning|steps)\b"),
    ("think|chain of", "", (r"\bchain of thought\b"
     r"|\bthink (?:carefully|hard|it through|through|deeply)\b")),
    ("一步一步|一步步|逐步|分步|步骤|단계별|단계적|ステップ", None),
    ("过程", r"(?:推理|解题|思考|计算|求解|证明|推导)的?过程"),
)  # fmt: skip

_THING = (
    r"(?:(?<!promo )(?<!discount )(?<!zip )(?<!qr )(?<!dress )(?<!postal )code"
    r"|functions?|scripts?|classes|algorithms?|regexp?|regular expression|sql|quer(?:y|ies)"
    r"|apis?|endpoint|unit tests?|bugs?|module|librar(?:y|ies)|parser|compiler|stack ?trace|python"
    r"|javascript|typescript|java|rust|golang|bash|html|css|dockerfile|kubernetes|yaml|web ?app"
    r"|website|data structure|linked list|binary (?:search )?tree|hash ?map|race condition|deadlock"
    r"|memory leak|mutex|thread-?safe|lock-free|lru cache|scheduler|program (?:that|to|which|in)"
    r"|crawler|scraper)\b"
)
_THING_WORDS = (
    "code|function|script|classes|algorithm|regex|regular expression|sql|query|queries|api|endpoint"
    "|unit test|bug|module|library|libraries|parser|compiler|stack trace|stacktrace|python"
    "|javascript|typescript|java|rust|golang|bash|html|css|dockerfile|kubernetes|yaml|webapp"
    "|web app|website|data structure|linked list|binary tree|binary search tree|hashmap|hash map"
    "|race condition|deadlock|memory leak|mutex|threadsafe|thread-safe|lock-free|lru cache"
    "|scheduler|program |crawler|scraper"
)
_MAKE_WORDS = (
    "write|implement|creat|develop|build|refactor|debug|fix|optimi|port|convert|design|make|give"
    "|generate|add|review|find|explain|complet|profil"
)
_THING_ZH = (
    r"(?:代码|函数|程序|脚本|算法|正则|sql|接口|单元测试|爬虫|网页|前端|后端|数据库|线程|死锁|缓存"
    r"|\b(?:python|java|javascript|typescript|golang|rust|go|api)\b|c\+\+)"
)
CODE: tuple[Row, ...] = (
    ("```|console.log|=>|#include", None),
    ("def |class ", r"\bdef \w+\(|^\s*class \w+\s*[:({]|\bpublic (?:static|class)\b"),
    ("import ", r"^\s*(?:import \w[\w.]*(?: as \w+)?|from \w[\w.]* import \w.*)$"),
    ("select ", r"\bselect\b.{1,80}\bfrom \w+"),
    ("function", "", r"\bfunction\s*\w*\([\w, ]*\)\s*\{"),
    (f"{_MAKE_WORDS} & {_THING_WORDS}", (
     r"\b(?:write|implement|create|develop|build|refactor|debug|fix|optimi[sz]e"
     r"|rewrite|port|convert|design|make|give|generate|add|review|find|explain|complete|profile)\b"
     r"[^.?!\n]{0,70}?\b"), _THING),
    (("in |using |with |use & python|javascript|typescript|java|sql|rust|golang|go|html|css|bash"
     "|regex|php|ruby|kotlin|swift|matlab"), r"\b(?:in|using|with|use) ", (
     r"(?:python|javascript|typescript|java|sql"
     r"|rust|golang|go|html|css|bash|regex|php|ruby|kotlin|swift|matlab)\b")),
    ("c++|time complexity|space complexity|computational complexity|segfault|traceback", "", (
     r"\bc\+\+|\bsegfault\b|\btraceback\b"
     r"|\b(?:time|space|computational) complexity\b")),
    ("写|实现|开发|生成|给出|用|优化|重构|调试|修|设计|审查|解释|封装|排查|找出", "",
     r"(?:写|实现|开发|生成|给出|用|优化|重构|调试|修复|设计|审查|解释|修改|封装|排查|找出)"
     r"[^。?!\n]{0,24}" + _THING_ZH),
    ("code", (r"\b(?:this|the following|following|below|my|our) "
     r"(?:(?:piece|block|snippet|lines?) of )?"), (r"code\b(?! of conduct)"
     r"(?![^.?!\n]{0,40}\b(?:expire\w*|valid|discount|coupon|checkout|delivery|door|gate)\b)")),
    ("代码", r"(?:这段|以下|下面的?|我的)代码"),
    ("编程题|时间复杂度|空间复杂度|报错|线程安全|コードを|关数を", None),
    ("코드|파이썬", r"(?:파이썬|코드)[^.?!\n]{0,20}(?:작성|구현|짜)"),
)  # fmt: skip

LOGIC: tuple[Row, ...] = (
    ("puzzle|riddle|brainteaser|brain teaser|logic|dedu|infer|paradox|syllogism|knave|liar", "", (
     r"\b(?:puzzle|riddle"
     r"|brain ?teaser|logical(?:ly)?|logic|deduce|deduction|infer|paradox|syllogism|knaves?|liars?)"
     r"\b")),
    ("lying|truth|river", (r"\bwho is lying\b|\btell(?:s|ing)? the truth\b"
     r"|\bcross(?:es|ing)? (?:the|a) river\b")),
    ("推理|逻辑|谜题|谜语|悖论|说谎|撒谎|说真话|说假话|推断|推出|过河", None),
)  # fmt: skip

ANALYSIS: tuple[Row, ...] = (
    (("analy|evaluat|assess|compar|contrast|criti|trade|pros and|implication|root cause"
     "|review|draft"),
     "", (r"\b(?:analy[sz](?:e|is|ing)|evaluat(?:e|ion)|assess(?:ment)?|compare|comparison|contrast"
     r"|review|draft|critique|critically|trade-?offs?|pros and cons|implications|root cause)\b")),
    ("strateg|architect|design|propos|argu|debate|in depth|in-depth|comprehensive|research",
     "", (r"\b(?:strateg(?:y|ies)|architecture|design|propose|argue|arguments?|debate|in[- ]depth"
     r"|comprehensive|research)\b")),
    ("分析|评估|评价|比较|对比|论述|探讨|方案|架构|策略|设计|优缺点|利弊|权衡", None),
    ("审查|起草|批判|深入|全面|异同|规划|비교|분석", None),
)  # fmt: skip

MULTIPLE_CHOICE: tuple[Row, ...] = (
    ("c.|c)|c:|c、", (r"(?<![a-z0-9])a[.):、](?>[^\n]{1,200}?(?<![a-z0-9])b[.):、])"
     r"[^\n]{1,200}?(?<![a-z0-9])c[.):、]")),
    ("c.|c)|c:|c、", (r"(?:^|[.?:])\s*\(?a[.):、][^\n]+\n\s*\(?b[.):、]"
     r"[^\n]+\n\s*\(?c[.):、]")),
)  # fmt: skip

_NOT_A_FACT = r"\s*(?!你|您|我|咱|[这那][个句段篇条些里]|在吗|可以|可否|能不能|能帮|方便|有没有)"
YES_NO_FACT: tuple[Row, ...] = (
    ("? & is |are |was |were |do |does |did |has |have |had |can |could |will |would |should ",
     r"(?:\A|\n|[^a-z0-9\s'])\s*",
     # Looking back says nothing new after that lead; it spares every verb within a sentence.
     (r"(?<![a-z0-9'])(?<![a-z0-9'] )(?:is it true that|(?:is|are|was|were|do|does|did|has|have"
     r"|had|can|could|will|would|should) (?!(?:you|i|we|us|my|your|this|that|these|those|it|anyone"
     r"|let|there any)\b))[^?\n]{3,160}\?")),
    ("吗|对不对|是不是", r"(?:\A|[。?!,;\s])" + _NOT_A_FACT
     + r"[^。?!,\n]{2,60}(?:吗|,?(?:对不对|是不是|对吗|是吗))(?=[?。\s]|\Z)"),
    ("是不是|是否|能否|会不会|有没有", (r"(?:\A|[。?!,;\s])" + _NOT_A_FACT
     + r"[^。?!,\n]{2,30}(?:是不是|是否|能否|会不会|有没有)[^。!\n]{1,60}(?:\?|\Z)")),
)  # fmt: skip

MATHS: tuple[Row, ...] = (
    ("*|^|×|÷|+", r"\d\s*[*^×÷+]\s*\d"),
    ("\\", r"\\(?:frac|int|sum|sqrt|lim|begin)\b"),
    ("∫|∑|√|∂|∏|∮|≤|≥|≠|∞", None),
    ("solve", "",
     r"\bsolve\b[^.?!\n]{0,40}(?:\bequations?\b|\bfor [a-z]\b|\bsystem\b|inequalit|=)"),
    (("integra|deriv|antideriv|differen|determinant|eigen|matri|polynom|quadratic|logarithm"
     "|trigonom|probab|permutation|modulo|prime"), "", (
     r"\b(?:integrals?|(?:anti)?derivatives?|differentiate"
     r"|differential|determinant|eigen\w+|matri(?:x|ces)|polynomials?|quadratic|logarithms?"
     r"|trigonometr\w*|probability|permutations?|modulo|prime (?:factor\w*|numbers?))\b"
     r"|\bintegrate\b[^.?!\n]{0,24}[\^()=]")),
    (("greatest|least|hypot|circum|perimet|compound|standard deviation|variance|equation|inequal"
     "|irrational|converge|finite|vector"), "", (
     r"\b(?:greatest common|least common|hypotenuse|circumference"
     r"|perimeter|compound interest|standard deviation|variance|equations?|inequality|irrational"
     r"|converge[sd]?|finite group|vector space)\b")),
    ("calculate|compute", "", r"\b(?:calculate|compute)\b"),
    ("area|volume", "", (r"\b(?:area|volume) of (?:an?|the) (?:\w+ )?"
     r"(?:triangle|circle|square|rectangle"
     r"|sphere|cone|cylinder|cube|trapezoid|polygon|region)")),
    ("积分|极限|计算", (r"积分(?!兑|商|奖|卡)|极限(?!运动|挑战)"
     r"|(?<!云)(?<!量子)计算(?!机|器|资源|平台|中心|能力|科学|图形)")),
    (("方程|求导|导数|微分|矩阵|行列式|特征值|概率|排列组合|因式分解|化简|不等式|勾股|数列|等差数|等比数"
     "|最大值|最小值|鸡兔|无理数|质数|素数|公约数|公倍数|확률|방정식|미분|적분"), None),
    ("求", r"求[^。?!\n]{0,16}(?:的值|的解|之和|面积|体积|周长|概率|方差|通项|极值|定义域|值域)"),
)  # fmt: skip

AMOUNT: tuple[Row, ...] = (
    ("how ", "", r"\bhow (?:many|much|long|far|old|fast|tall)\b"),
    ("total|sum|average|cost|price|percent|speed|age|profit|ratio|area|remainder & what ", "", (
     r"\bwhat (?:is|are|was|will be)\b[^?]{0,60}"
     r"\b(?:total|sum|average|cost|price|percent\w*"
     r"|speed|age|profit|ratio|area|remainder)\b|\bwhat percent")),
    ("多少|多久|多大|多长|多远|多高", None),
    ("几", r"几[个只头元块天年岁人本支件小分]"),
)  # fmt: skip
"""A question for an amount."""

IN_TURN: tuple[Row, ...] = (
    ("first", "", r"\bfirst(?:ly)?\b.{1,200}\b(?:then|second(?:ly)?|finally)\b"),
    ("explain|justify|describe|discuss|compare|prove|evaluate|why & and|then|also", r"\S[ ,.]+", (
     r"(?:and|then|also)[, ]+(?:then )?"
     r"(?:explain|justify|describe|discuss"
     r"|compare|prove|evaluate|why)\b")),
    ("首先", r"首先.{1,120}(?:然后|其次|再|最后)"),
    ("先", r"先.{2,60}(?:然后|再).{2,}"),
    ("并|然后|同时", r"(?:并|然后|同时)且?(?:说明|解释|分析|证明|讨论|比较|论述|阐述)"),
)  # fmt: skip
"""One thing asked for after another."""

WORDS: Mapping[str, tuple[Row, ...]] = {
    "proof": PROOF,
    "step_by_step": STEP_BY_STEP,
    "code": CODE,
    "logic": LOGIC,
    "analysis": ANALYSIS,
    "multiple_choice": MULTIPLE_CHOICE,
    "yes_no_fact": YES_NO_FACT,
}
