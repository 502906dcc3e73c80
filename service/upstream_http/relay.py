"""What happens to each piece of an answer between an upstream and a client."""

from hashlib import sha256

from service.upstream_http.event_scanner import EventScanner
from service.upstream_http.response import Receiver, Response


class Relay:
    """Passes a stream of events on, scanned, and with the digests of both sides.

    ``received`` and ``sent`` are SHA-256 of the body, as it came and as it went on.
    """

    def __init__(self, receiver: Receiver, scanner: EventScanner) -> None:
        self._receiver = receiver
        self._scanner = scanner
        self.received = sha256()
        # The same one until something is withheld.
        self.sent = self.received

    async def run(self, response: Response) -> None:
        """Relay an answer to its end; raises what :meth:`Response.relay` does."""
        await response.relay(self)
        if rest := self._scanner.end():
            # Then some of it was kept back, and the digests are two.
            self.sent.update(rest)
            self._receiver.take(rest)
        await self._receiver.drained()

    def take(self, piece: bytes) -> int:
        passed = self._scanner.feed(piece)
        if passed is not piece and self.sent is self.received:
            self.sent = self.received.copy()
        self.received.update(piece)
        if self.sent is not self.received:
            self.sent.update(passed)
        return self._receiver.take(passed)

    async def drained(self) -> None:
        await self._receiver.drained()
