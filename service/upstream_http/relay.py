"""What happens to each piece of an answer between an upstream and a client."""

from hashlib import sha256

from service.upstream_http.event_scanner import EventScanner
from service.upstream_http.response import Receiver, Response


class Relay:
    """Passes a body on, and has the digests of both sides.

    With a scanner it is a stream of events, of which whole ones are passed on.
    ``received`` and ``sent`` are SHA-256 of the body, as it came and as it went on.
    ``size`` is how many bytes have come. ``last`` is the last piece that was passed on,
    of those that have ``last_has``. With ``whole_events``, what there is of an event
    when the stream ends isn't passed on.
    """

    def __init__(
        self,
        receiver: Receiver,
        scanner: EventScanner | None,
        *,
        last_has: bytes = b"",
        whole_events: bool = False,
    ) -> None:
        self._receiver = receiver
        self._scanner = scanner
        self._last_has = last_has
        self._whole_events = whole_events
        self.received = sha256()
        # The same one, unless something is withheld, or kept until the rest has come.
        self.sent = self.received
        self.last = b""
        self.size = 0

    @property
    def is_within_event(self) -> bool:
        """Whether the beginning of an event was passed on, and its end wasn't."""
        return self._scanner is not None and self._scanner.is_within_event

    async def run(self, response: Response) -> None:
        """Relay an answer to its end; raises what :meth:`Response.relay` does."""
        await response.relay(self)
        if self._scanner is not None:
            rest = self._scanner.end(whole_events=self._whole_events)
            if rest:
                # Then the digests are two.
                self.sent.update(rest)
                self._keep_last(rest)
                self._receiver.take(rest)
        await self._receiver.drained()

    def take(self, piece: bytes) -> int:
        scanner = self._scanner
        passed = piece if scanner is None else scanner.feed(piece)
        if passed is not piece and self.sent is self.received:
            self.sent = self.received.copy()
        self.received.update(piece)
        self.size += len(piece)
        if self.sent is not self.received:
            self.sent.update(passed)
            if scanner is not None and scanner.has_passed_all:
                self.sent = self.received
        if passed:
            self._keep_last(passed)
        return self._receiver.take(passed)

    def add(self, sent: bytes) -> None:
        """Count what is sent beside what has come."""
        if self.sent is self.received:
            self.sent = self.received.copy()
        self.sent.update(sent)

    def _keep_last(self, passed: bytes) -> None:
        if self._last_has in passed:
            self.last = passed

    async def drained(self) -> None:
        await self._receiver.drained()
