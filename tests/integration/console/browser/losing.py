"""A proxy that passes requests on, and closes the connection in place of the answer."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final
from urllib.parse import urlsplit

HOST: Final = "127.0.0.1"
READ_BYTES: Final = 65536


class LosingProxy:
    """While it is ``losing``, answers to requests that begin so are lost.

    Browsers take that for an idle connection that was closed at the other end, and send
    the request again on each further one that they keep. ``lost`` has one for each.
    """

    def __init__(self, upstream: tuple[str, int], listener: socket.socket) -> None:
        self.losing: str | None = None
        self.lost: list[str] = []
        self._upstream = upstream
        self._listener = listener

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._listener.getsockname()[1]}"

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        loses = Event()
        with suppress(OSError), client, socket.create_connection(self._upstream) as up:
            Thread(target=_answer, args=(up, client, loses), daemon=True).start()
            while sent := client.recv(READ_BYTES):
                line = sent.partition(b"\r\n")[0].decode("latin-1")
                if self.losing and line.startswith(self.losing):
                    self.lost.append(line)
                    loses.set()
                up.sendall(sent)


def _answer(up: socket.socket, client: socket.socket, loses: Event) -> None:
    with suppress(OSError):
        while (received := up.recv(READ_BYTES)) and not loses.is_set():
            client.sendall(received)
    with suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


@contextmanager
def losing_proxy(url: str) -> Iterator[LosingProxy]:
    target = urlsplit(url)
    with socket.create_server((HOST, 0)) as listener:
        proxy = LosingProxy((str(target.hostname), int(target.port or 80)), listener)
        Thread(target=proxy.accept, daemon=True).start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)
