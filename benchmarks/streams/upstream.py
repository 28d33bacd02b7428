"""`python -m benchmarks.streams.upstream`: streams, and breaks, as the prompt says."""

from __future__ import annotations

import asyncio
import json
import socket
import struct

from benchmarks.streams.script import End, Script

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_ABORT = struct.pack("ii", 1, 0)
_TURNED_AWAY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


async def main() -> None:
    """Prints the port, then serves until it is ended."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await _one(reader, writer):
            pass
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the connection may be used again."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if head.startswith(b"get"):
        writer.write(_TURNED_AWAY)
        return True
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    asked = json.loads(await reader.readexactly(length))
    script = Script.of(asked["messages"][-1]["content"])
    writer.write(_HEAD)
    broken = script.end is not End.WELL
    for number in range(script.after if broken else script.chunks):
        writer.write(_framed(_chunk(number, None)))
        await writer.drain()
        await asyncio.sleep(script.every_s)
    if broken:
        return await _break(script.end, writer)
    writer.write(_framed(_chunk(script.chunks, "stop")) + _framed(b"[DONE]") + b"0\r\n\r\n")
    await writer.drain()
    return True


async def _break(end: End, writer: asyncio.StreamWriter) -> bool:
    if end is End.RESET:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        writer.transport.abort()
        return False
    if end is End.ERROR:
        writer.write(_framed(b'{"error":{"message":"overloaded","type":"server_error"}}'))
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _chunk(number: int, finish: str | None) -> bytes:
    delta = {} if finish else {"content": f"word {number} "}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return json.dumps(head | {"choices": [choice]}).encode()


def _framed(data: bytes) -> bytes:
    event = b"data: " + data + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(event), event)


if __name__ == "__main__":
    asyncio.run(main())
