"""The clients: each reads its stream to its end, or hangs up, and tells what it saw."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from benchmarks.streams.script import End, Script

LATE_S = 30.0
"""How much longer than its chunks take a stream may last before it counts as hung."""


async def all_of(port: int, scripts: Sequence[Script]) -> Counter[str]:
    """What became of the streams: `complete`, `broken`, `left`, and faults in words."""
    return Counter(await asyncio.gather(*(_one(port, script) for script in scripts)))


async def _one(port: int, script: Script) -> str:
    try:
        async with asyncio.timeout(script.chunks * script.every_s + LATE_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(_request(script))
                return await _read(reader, script)
            finally:
                writer.transport.abort()
                with suppress(OSError):
                    await writer.wait_closed()
    except TimeoutError:
        return "FAULT: hung"
    except (OSError, asyncio.IncompleteReadError) as error:
        return f"FAULT: {type(error).__name__}"


async def _read(reader: asyncio.StreamReader, script: Script) -> str:
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        return f"FAULT: {head[:30]!r} {await reader.read(300)!r}"
    events: list[bytes] = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        piece = (await reader.readexactly(size + 2))[:-2]
        events += [e for e in piece.split(b"\n\n") if e and not e.startswith(b":")]
        if script.hang_up_after is not None and len(events) >= script.hang_up_after:
            return "left"
    return _verdict([event.removeprefix(b"data: ") for event in events], script)


def _verdict(events: Sequence[bytes], script: Script) -> str:
    errors = [e for e in events if e.startswith(b'{"error"')]
    done = b"[DONE]" in events
    words = [json.loads(e) for e in events if e.startswith(b'{"id"')]
    said = sum("content" in c["delta"] for w in words for c in w["choices"])
    if script.end is End.WELL:
        well = done and not errors and said == script.chunks
        return "complete" if well else f"FAULT: {said} of {script.chunks}, {errors[:1]}"
    well = len(errors) == 1 and events[-1] == errors[0] and not done and said == script.after
    return (
        "broken" if well else f"FAULT: {script.end} {len(errors)} errors, {said} of {script.after}"
    )


def _request(script: Script) -> bytes:
    body = json.dumps(
        {
            "model": "up",
            "stream": True,
            "messages": [{"role": "user", "content": script.prompt()}],
        }
    ).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
