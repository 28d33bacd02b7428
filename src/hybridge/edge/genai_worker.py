"""The process in which a model of `ortgenai` computes; the gateway starts it, nobody else.

    python -m hybridge.edge.genai_worker SOCKET PARENT

`SOCKET` is the number of an inherited, connected socket, `PARENT` the gateway's process id. It ends
when the connection or the parent does, whatever it is computing then at the next token.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator

from hybridge.edge.genai_answer import answer
from hybridge.edge.genai_model import GenaiModel
from hybridge.edge.genai_wire import (
    Ask,
    Ended,
    Failed,
    Frames,
    Load,
    Ready,
    Said,
    Stop,
    ToGateway,
    ToWorker,
    framed,
)
from hybridge.edge.refused import Refused

_LOOK_MS = 1000
"""How often a worker without work looks whether its parent is still there."""
_READ_BYTES = 1 << 16


class Gone(Exception):
    """The gateway is not there any more."""


class Line:
    """The connection to the gateway."""

    def __init__(self, connection: socket.socket, parent: int) -> None:
        self._connection = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._parent = parent
        self._frames: Frames[ToWorker] = Frames(ToWorker)

    def receive(self, *, wait: bool) -> list[ToWorker]:
        """What has come; with `wait` it waits until something has. Raises `Gone`."""
        while True:
            if os.getppid() != self._parent:
                raise Gone
            if self._poll.poll(_LOOK_MS if wait else 0):
                if not (data := self._connection.recv(_READ_BYTES)):
                    raise Gone
                messages = self._frames.feed(data)
                if messages or not wait:
                    return messages
            elif not wait:
                return []

    def send(self, message: ToGateway) -> None:
        """Raises `OSError` where nobody is there."""
        self._connection.sendall(framed(message))


def serve(line: Line) -> None:
    """Loads what the first message names, and answers until the gateway is gone."""
    (load, *_) = line.receive(wait=True)
    if not isinstance(load, Load):
        raise TypeError("the first message must say what to load")
    try:
        model = GenaiModel(load)
    except Exception as error:  # the gateway tells why
        line.send(Failed(str(error) or type(error).__name__))
        return
    line.send(Ready(model.build))
    turns = Turns(model, line)
    while True:
        for message in line.receive(wait=turns.idle):
            turns.take(message)
        turns.step()


class Turns:
    """The answers under way: each computes one step, then the next one does."""

    def __init__(self, model: GenaiModel, line: Line) -> None:
        self._model = model
        self._line = line
        self._running: deque[tuple[int, Iterator[None]]] = deque()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to compute."""
        return not self._running

    def take(self, message: ToWorker) -> None:
        """Begins an answer, or ends one."""
        if isinstance(message, Ask):
            number = message.number
            steps = answer(self._model, message, lambda piece: self._line.send(Said(number, piece)))
            self._running.append((number, steps))
        elif isinstance(message, Stop):
            stopped = [turn for turn in self._running if turn[0] == message.number]
            for turn in stopped:
                self._running.remove(turn)
                self._line.send(Ended(message.number))

    def step(self) -> None:
        """One step of the answer whose turn it is."""
        if not self._running:
            return
        number, steps = self._running.popleft()
        try:
            next(steps)
        except StopIteration:
            self._line.send(Ended(number))
        except Refused as refused:
            self._line.send(Ended(number, refused.param, refused.why, refused.code))
        except OSError:
            raise
        except Exception as error:  # of this answer; the others go on
            self._line.send(Ended(number, why=str(error) or type(error).__name__))
        else:
            self._running.append((number, steps))


def main() -> None:
    """The process. Signals that end the gateway leave it to finish what it answers."""
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    connection, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    try:
        serve(Line(connection, parent))
    except (Gone, OSError):
        os._exit(0)  # the library's own end is long, and tells of what it still held
    os._exit(1)


if __name__ == "__main__":
    main()
