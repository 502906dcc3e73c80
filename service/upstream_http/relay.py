"""What happens to each piece of an answer between an upstream and a client."""

from hashlib import sha256

from service.upstream_http.event_scanner import EventScanner
from service.upstream_http.response import Receiver, Response


class Relay:
    """Passes a body on, and has the digests of both sides.

    With a scanner it is a stream of events, of which whole ones are passed on.
    ``received`` and ``sent`` are SHA-256 of the body, as it came and as it went on.
    """

    def __init__(self, receiver: Receiver, scanner: EventScanner | None) -> None:
        self._receiver = receiver
        self._scanner = scanner
        self.received = sha256()
        # The same one, unless something is withheld, or kept until the rest has come.
        self.sent = self.received
        # The last piece that was passed on.
        self.last = b""

    async def run(self, response: Response) -> None:
        """Relay an answer to its end; raises what :meth:`Response.relay` does."""
        await response.relay(self)
        if self._scanner is not None and (rest := self._scanner.end()):
            # Then the digests are two.
            self.sent.update(rest)
            self._receiver.take(rest)
        await self._receiver.drained()

    def take(self, piece: bytes) -> int:
        scanner = self._scanner
        passed = piece if scanner is None else scanner.feed(piece)
        if passed is not piece and self.sent is self.received:
            self.sent = self.received.copy()
        self.received.update(piece)
        if self.sent is not self.received:
            self.sent.update(passed)
            if scanner is not None and scanner.has_passed_all:
                self.sent = self.received
        if passed:
            self.last = passed
        return self._receiver.take(passed)

    async def drained(self) -> None:
        await self._receiver.drained()
