"""`hybridge chat`: talk to the gateway from a terminal, and see how each turn was routed."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybridge.cli.options import Config, settings_of

if TYPE_CHECKING:
    from pyqwest import Client


def chat(
    message: Annotated[
        str | None, typer.Argument(help="One message; none: a conversation.")
    ] = None,
    model: Annotated[str, typer.Option(help="`auto`, or a backend's name.")] = "auto",
    url: Annotated[
        str | None, typer.Option(help="A running gateway, e.g. http://127.0.0.1:8686.")
    ] = None,
    key_env: Annotated[
        str, typer.Option(help="Environment variable with the gateway's API key.")
    ] = "HYBRIDGE_API_KEY",
    config: Config = None,
) -> None:
    """Chats through a running gateway (--url), or through one started for this conversation."""
    asyncio.run(_chat(message, model, url, os.environ.get(key_env), config))


async def _chat(
    message: str | None, model: str, url: str | None, key: str | None, config: Any
) -> None:
    from pyqwest import Client

    from hybridge.cli.loopback import loopback

    http = Client(loopback())
    if url is not None:
        await _converse(http, url.rstrip("/"), model, key, message)
        return
    from hybridge import wiring
    from hybridge.server.serve import Listener

    settings = settings_of(config, {"port": 0})
    async with wiring.open_house(settings) as house, Listener(house.app, settings.server) as at:
        await house.loaded()
        await _converse(http, at.url, model, key, message)


async def _converse(
    http: Client, url: str, model: str, key: str | None, message: str | None
) -> None:
    history: list[dict[str, str]] = []
    while True:
        text = message if message is not None else await asyncio.to_thread(_read)
        if text is None:
            return
        history.append({"role": "user", "content": text})
        answer = await _turn(http, url, model, key, history)
        if answer is None:
            history.pop()
        else:
            history.append({"role": "assistant", "content": answer})
        if message is not None:
            if answer is None:
                raise typer.Exit(1)
            return


def _read() -> str | None:
    try:
        text = input("you> ").strip()
    except EOFError:
        return None
    return text if text not in ("", "/exit", "/quit") else None


async def _turn(
    http: Client, url: str, model: str, key: str | None, history: list[dict[str, str]]
) -> str | None:
    """Prints one answer as it comes; None when there was only an error."""
    import msgspec

    from hybridge.cloud.sse import SseReader

    body = {"model": model, "messages": history, "stream": True}
    headers = {"content-type": "application/json"} | (
        {"authorization": f"Bearer {key}"} if key else {}
    )
    said, reader = "", SseReader()
    payload = msgspec.json.encode(body)
    async with http.stream("POST", f"{url}/v1/chat/completions", headers, payload) as response:
        if response.status != 200:
            raw = b"".join([bytes(block) async for block in response.content])
            typer.echo(_message(raw), err=True)
            return None
        async for block in response.content:
            for data in reader.feed(bytes(block)):
                if data == b"[DONE]":
                    continue
                event = msgspec.json.decode(data)
                if "error" in event:
                    typer.echo(f"\n{event['error'].get('message')}", err=True)
                    return None
                said += _say(event)
    typer.echo()
    return said


def _say(event: dict[str, Any]) -> str:
    text = "".join(c["delta"].get("content") or "" for c in event.get("choices") or ())
    typer.echo(text, nl=False)
    if account := event.get("hybridge"):
        score = "" if account["score"] is None else f", score {account['score']:.1f}"
        typer.secho(f"\n[{account['route']}: {account['model']}{score}]", dim=True, err=True)
    return text


def _message(raw: bytes) -> str:
    import msgspec

    try:
        return str(msgspec.json.decode(raw)["error"]["message"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return raw.decode(errors="replace")[:500]
