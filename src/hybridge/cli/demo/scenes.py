"""What the demo asks, in English and Chinese, and what it does to each side on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Act(Enum):
    """Something done to a side between requests."""

    KILL_EDGE = "the edge engine is unloaded"
    REVIVE_EDGE = "the edge engine is loaded again"
    KILL_CLOUD = "the cloud's process is killed"
    REVIVE_CLOUD = "the cloud's process is started again"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    prompt: str
    model: str = "auto"
    max_tokens: int = 48
    stream: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None


PROOF_EN = "Prove that the square root of 2 is irrational, step by step."
PROOF_ZH = "请一步一步证明：素数有无穷多个。"

BUDGET = "The committee approved the budget for the new library in Springfield."
NOTICE = (
    "Rewrite the following notice so that it has at most 30 words and must not use the word "
    "'closed': The swimming pool (25 m) will be closed from 3 to 17 August because the 12 pumps "
    "and 4 filters have to be replaced; season tickets are extended by 15 days."
)
REPORT_ZH = (
    "某商店三月卖出120把伞，四月85把，五月40把。"
    "请写一份不超过100字的总结，必须包含3个数字，格式为一段话。"
)
OPEN = "in the old town is open from nine in the morning to five in the afternoon."

SCENES: tuple[Ask | Act, ...] = (
    Ask("Extract the keywords: The quick brown fox jumps over the lazy dog."),
    Ask(f"Extract the keywords: {BUDGET}", stream=True),
    Ask("Correct the spelling: I recieve teh letter yesterday."),
    Ask("你好！"),
    Ask(f"Answer with this sentence: The library {OPEN}", max_tokens=80),
    Ask(f"Answer with this sentence: The old library {OPEN}", max_tokens=80),
    Ask("Name the capital of France.", max_tokens=80),
    Ask("What is the opposite of hot?", max_tokens=80),
    Ask("Write one sentence about the sea.", max_tokens=80),
    Ask("用一句话介绍一下长城。", max_tokens=80),
    Ask(PROOF_EN, max_tokens=64),
    Ask(PROOF_ZH, max_tokens=64, stream=True),
    Ask("把下面这句话翻译成英文：今天天气很好。"),
    Ask(NOTICE, max_tokens=80),
    Ask(REPORT_ZH, max_tokens=80, stream=True),
    Ask("Say hello.", model="cloud"),
    Ask("Say hello.", model="edge"),
    Ask("My phone number is +1 415 555 0132. Greet me.", max_tokens=32),
    Ask("我的手机号是13800138000，请帮我记一下。", max_tokens=32),
    Act.KILL_EDGE,
    Ask("Hi there!"),
    Ask("请改正错别字：我今天很高心。", stream=True),
    Act.REVIVE_EDGE,
    Ask("Good morning!"),
    Act.KILL_CLOUD,
    Ask(PROOF_EN, max_tokens=64),
    Ask(PROOF_ZH, max_tokens=64, stream=True),
    Act.REVIVE_CLOUD,
    Ask("Prove that the sum of two even numbers is even.", max_tokens=64),
)
