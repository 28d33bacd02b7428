"""A plain HTTP client of the gateway, as any application could write it."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from pyqwest import Client as HttpClient

from hybridge.cli.demo.scenes import Ask
from hybridge.cli.demo.table import Row

WIDTH = 90
"""Characters of an answer that are shown."""


async def ask(http: HttpClient, url: str, scene: Ask) -> Row:
    """Sends one request, streaming or not, and reads the answer with its `hybridge` object."""
    messages = [{"role": "user", "content": scene.prompt}]
    body = {
        "model": scene.model,
        "messages": messages,
        "max_tokens": scene.max_tokens,
        "temperature": 0,
        "stream": scene.stream,
    }
    headers = {"content-type": "application/json", **scene.headers}
    started_s = time.monotonic()
    response = await http.post(f"{url}/v1/chat/completions", headers, msgspec.json.encode(body))
    raw = response.content
    took_ms = 1000 * (time.monotonic() - started_s)
    if scene.stream and response.status == 200:
        text, account = _of_stream(raw)
    else:
        text, account = _of_whole(msgspec.json.decode(raw))
    return _row(scene, text, account, took_ms)


def _of_whole(answer: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if "error" in answer:
        return "", {"error": answer["error"].get("message", "")}
    return answer["choices"][0]["message"].get("content") or "", answer.get("hybridge") or {}


def _of_stream(raw: bytes) -> tuple[str, dict[str, Any]]:
    text = ""
    account: dict[str, Any] = {}
    for line in raw.splitlines():
        if not line.startswith(b"data: ") or line == b"data: [DONE]":
            continue
        event = msgspec.json.decode(line[6:])
        if "error" in event:
            return text, {"error": event["error"].get("message", "")}
        account = event.get("hybridge") or account
        for choice in event.get("choices") or ():
            text += choice["delta"].get("content") or ""
    return text, account


def _row(scene: Ask, text: str, account: dict[str, Any], took_ms: float) -> Row:
    shown = " ".join(text.split())
    reasons = [*account.get("reasons", ()), *filter(None, [account.get("notice")])]
    return Row(
        prompt=scene.prompt,
        stream=scene.stream,
        route=account.get("route", ""),
        model=account.get("model", ""),
        score=account.get("score"),
        confidence=account.get("confidence"),
        latency_ms=took_ms,
        cost_usd=_number(account.get("cost_usd")),
        saved_usd=_number(account.get("saved_usd")),
        answer=shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…",
        why="; ".join(reasons),
        error=account.get("error", ""),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
