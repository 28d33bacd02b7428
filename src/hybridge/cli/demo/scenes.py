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

SCENES: tuple[Ask | Act, ...] = (
    Ask("Hello!"),
    Ask("Correct the spelling: I recieve teh letter yesterday.", stream=True),
    Ask("你好！"),
    Ask("Is this review positive or negative? 'I love this phone.'", max_tokens=8),
    Ask("Write one sentence about the sea.", max_tokens=80),
    Ask("Describe a cup of tea in two sentences.", max_tokens=80),
    Ask("用一句话介绍一下长城。", max_tokens=80),
    Ask(PROOF_EN, max_tokens=64),
    Ask(PROOF_ZH, max_tokens=64, stream=True),
    Ask("Who wrote the novel Moby-Dick, and in which year was it published?"),
    Ask("Summarise in one line: the meeting was moved to Friday since the room is taken."),
    Ask("把下面这句话翻译成英文：今天天气很好。"),
    Ask("为什么天空是蓝色的？"),
    Ask("What causes the seasons on Earth?", stream=True),
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
