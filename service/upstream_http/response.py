"""An answer over HTTP/1.1, read while it arrives."""

import asyncio
from typing import Final, Protocol

# Beyond, the upstream has to wait until what it has sent was taken.
UNREAD_BYTES_MAX: Final = 256 * 1024


class NotHttpError(ValueError):
    """The upstream sent what isn't HTTP/1.1."""


class HeadTooLargeError(ValueError):
    """The upstream sent too long a head, or trailers."""


class Receiving(Protocol):
    """The connection that it arrives on."""

    def allow_silence(self, silence_s: float) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None: ...


class Receiver(Protocol):
    """Where a body is relayed to."""

    def take(self, piece: bytes) -> int:
        """Take a piece; return how many bytes it has taken and not passed on yet."""

    async def drained(self) -> None:
        """Wait until it can take more."""


class Response:
    """The answer to one request, read in pieces as they arrive."""

    __slots__ = (
        "_connection",
        "_error",
        "_is_blocked",
        "_pieces",
        "_receiver",
        "_unread",
        "_waiter",
        "fields",
        "headers",
        "status",
    )

    def __init__(self, connection: Receiving) -> None:
        self.status = 0
        # By names in lower case; of one that is given twice, the first.
        self.headers: dict[bytes, bytes] = {}
        # All of them, as they came.
        self.fields: list[tuple[bytes, bytes]] = []
        # None once the answer has arrived completely.
        self._connection: Receiving | None = connection
        self._pieces: list[bytes] = []
        self._unread = 0
        self._receiver: Receiver | None = None
        # Whether the receiver has to pass on some before it gets more.
        self._is_blocked = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_complete(self) -> bool:
        return self._connection is None

    @property
    def content_type(self) -> str:
        kind = self.header(b"content-type") or ""
        return kind.partition(";")[0].strip().lower()

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    async def begin(self) -> None:
        """Wait for the head.

        :raises TimeoutError: nothing has come for as long as is allowed
        :raises ConnectionError: the connection was closed
        :raises NotHttpError: it isn't HTTP
        :raises HeadTooLargeError: its head is too large
        """
        while not self.status:
            await self._change()

    async def read(self) -> bytes:
        """Return what has arrived of the body; empty at its end.

        Raises what :meth:`begin` does.
        """
        while not self._pieces:
            if self._connection is None:
                return b""
            await self._change()
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._unread = 0
        self._resume()
        return data

    async def relay(self, receiver: Receiver) -> None:
        """Give the body to a receiver until its end, each piece when it arrives.

        No task wakes up for a piece: that would cost more than to pass it on.
        Raises what :meth:`begin` does, and what ``drained`` of the receiver does.
        """
        self._receiver = receiver
        pieces, self._pieces = self._pieces, []
        for piece in pieces:
            self.arrived(piece)
        if not self._is_blocked:
            # It may have been paused before.
            self._resume()
        while True:
            if self._error is not None:
                raise self._error
            if self._is_blocked:
                await receiver.drained()
                self._is_blocked = False
                self._resume()
            elif self._connection is None:
                return
            else:
                await self._change()

    def allow_silence(self, silence_s: float) -> None:
        """From now on, end it after so many seconds without a byte."""
        if self._connection is not None:
            self._connection.allow_silence(silence_s)

    def close(self) -> None:
        """Close the connection unless the answer has arrived completely."""
        if self._connection is not None:
            self._connection.close()

    async def _change(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def begun(self, status: int) -> None:
        self.status = status
        self._wake()

    def arrived(self, piece: bytes) -> None:
        if self._receiver is not None:
            self._pass_on(piece, self._receiver)
            return
        self._pieces.append(piece)
        self._unread += len(piece)
        if self._unread > UNREAD_BYTES_MAX:
            self._pause()
        self._wake()

    def completed(self) -> None:
        self._connection = None
        self._wake()

    def failed(self, error: Exception) -> None:
        if self._connection is not None:
            self._error = error
            self._wake()

    def _pass_on(self, piece: bytes, receiver: Receiver) -> None:
        if self._error is not None:
            return
        try:
            untaken = receiver.take(piece)
        # Nobody waits for the piece who could be told otherwise.
        except Exception as error:  # noqa: BLE001
            self.close()
            self._error = error
            self._wake()
            return
        if untaken > UNREAD_BYTES_MAX:
            self._is_blocked = True
            self._pause()
            self._wake()

    def _resume(self) -> None:
        if self._connection is not None:
            self._connection.resume()

    def _pause(self) -> None:
        if self._connection is not None:
            self._connection.pause()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
