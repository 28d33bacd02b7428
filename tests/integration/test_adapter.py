"""R2: a gateway compares its two models, and its adapter speaks once it is better."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from hybridge.learning.evidence import Evidence, Pair
from hybridge.routing.adaptation import study
from hybridge.routing.adapter_file import save
from hybridge.settings import Settings
from hybridge.testing.replies import says
from hybridge.wiring.seeing import EPOCH, scoring_of, seen

pytestmark = pytest.mark.anyio

ALL_COMPARED = {"edge_max": 0, "cloud_min": 11}
EASY = "Which {0} lie further to the north than the {1}, and what are {2} of both known for?"
HARD = "为什么北方的{0}比南方的{1}更常见，它们与{2}之间有什么关系？"
ENGLISH = [
    "trains",
    "bridges",
    "rivers",
    "engines",
    "birds",
    "coins",
    "clocks",
    "maps",
    "roads",
    "towers",
]
CHINESE = ["火车", "桥梁", "河流", "发动机", "候鸟", "硬币", "钟表", "地图", "公路", "高塔"]


def asked(number: int) -> tuple[str, bool]:
    """A question, and whether the edge is up to it: in Chinese it never is."""
    frame, words = (HARD, CHINESE) if number % 2 else (EASY, ENGLISH)
    return frame.format(*Random(number).sample(words, 3)), not number % 2


async def ask(pair, numbers: range) -> None:
    for number in numbers:
        prompt, able = asked(number)
        pair.cloud.then(says("It is the first one." if able else "都不是，因为气候不同。"))
        answer = await pair.gateway.chat(prompt)
        assert answer.account["route"] == "shadow", answer.account


async def counted(pair, name: str) -> float:
    text = (await pair.gateway.get("/metrics")).raw.decode()
    return sum(float(value) for value in re.findall(rf"^{name} (\S+)$", text, re.MULTILINE))


async def speaking(pair) -> None:
    async with asyncio.timeout(60):
        while await counted(pair, r"hybridge_adapter_active\{.*\}") < 1:
            await asyncio.sleep(0.05)


async def test_the_adapter_speaks_after_enough_comparisons_and_after_a_restart(pair, tmp_path):
    records = f"sqlite+aiosqlite:///{tmp_path / 'h.db'}"
    config = {
        "routing": ALL_COMPARED,
        "records": {"url": records},
        "learning": {"shadow_queue": 99},
    }
    async with pair(**config) as p:
        p.edge.then(says("It is the first one.", logprob=-0.02))
        before = (await p.gateway.chat(asked(1)[0])).account
        assert any("(prior" in reason for reason in before["reasons"])
        await ask(p, range(2, 32))
        await speaking(p)
        scores = [(await p.gateway.chat(asked(n)[0])).account for n in (100, 101)]
        assert all("(adapter)" in account["reasons"][0] for account in scores)
        assert scores[1]["score"] > scores[0]["score"] + 2
        text = (await p.gateway.get("/metrics")).raw.decode()
        assert re.search(r'hybridge_edge_accuracy\{cloud="c",edge="e",task="\w+"\}', text)
    rows = sqlite3.connect(tmp_path / "h.db").execute("SELECT view, head_version FROM comparisons")
    views = [(bytes(view), head) for view, head in rows]
    assert len({len(view) for view, _ in views}) == 1
    assert not any(b"two cities" in view for view, _ in views)
    async with pair(**config) as p:
        await speaking(p)
        assert "(adapter)" in (await p.gateway.chat(asked(200)[0])).account["reasons"][0]


def adapter_file(path: Path) -> None:
    settings = Settings()
    head = scoring_of(settings).head
    questions = [asked(n) for n in range(40)]
    views = seen(settings, head, [text for text, _ in questions], lambda _: None)
    found = [
        Evidence(
            Pair("", "", ""), EPOCH, task, float(not able), 1, None, view, head.version, str(n)
        )
        for n, ((_, able), (view, task)) in enumerate(zip(questions, views, strict=True))
    ]
    made = study(None, found, EPOCH, head=head.version, half_life=timedelta(days=1))
    save(path, made.adaptation)


async def test_an_adapter_out_of_a_file_is_taken_over_while_requests_go_on(pair, tmp_path):
    async with pair(routing=ALL_COMPARED) as p:
        file = tmp_path / "hybridge.yaml"
        assert "(prior" in (await p.gateway.chat(asked(0)[0])).account["reasons"][0]
        adapter_file(tmp_path / "own.npz")
        config = file.read_text().replace("edge_max: 0", "edge_max: 0\n  adapter: own.npz")
        file.write_text(config)
        async with asyncio.timeout(60):
            while "(adapter)" not in (await p.gateway.chat(asked(0)[0])).account["reasons"][0]:
                await asyncio.sleep(0.1)
        (tmp_path / "own.npz").write_bytes(b"broken")  # the one in force stays
        async with asyncio.timeout(60):
            while (await p.gateway.get("/healthz")).json["config"]["last_error"] is None:
                await asyncio.sleep(0.1)
        told = (await p.gateway.get("/healthz")).json["config"]["last_error"]["message"]
        assert "routing.adapter" in told
        assert "(adapter)" in (await p.gateway.chat(asked(0)[0])).account["reasons"][0]
