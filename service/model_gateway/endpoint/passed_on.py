"""An answer on its way to a client, and what is on record of it."""

from http import HTTPStatus
from typing import Final

import orjson
from aiohttp import web

from service.http.disconnect import is_connected
from service.http.relayed_body import RelayedBody
from service.http.telemetry import REQUEST_ID
from service.model_gateway.calls.call_record import (
    AttemptOutcome,
    CallOutcome,
    CallRecord,
)
from service.model_gateway.calls.figures import Figures
from service.model_gateway.dialects import Dialect
from service.model_gateway.endpoint.answers import (
    CUT,
    Answer,
    NoAnswerError,
    answering,
    is_cut_document,
)
from service.model_gateway.protocol.headers import to_client
from service.model_gateway.protocol.streams import ModelStream
from service.model_gateway.protocol.usage import figures_at_end, figures_of
from service.upstream_http.event_scanner import EventScanner, Room
from service.upstream_http.relay import Relay

# A provider has its own id in X-Request-Id; this one is in the service's log.
REQUEST_ID_HEADER: Final = "Agent-Runtime-Request-Id"
# Of a document that is too large to be held: its usage stands there.
END_BYTES_MAX: Final = 64 * 1024


class _KeptEnd:
    """Passes the pieces of a document on, and keeps its end."""

    def __init__(self, body: RelayedBody) -> None:
        self._body = body
        self.end = b""

    def take(self, piece: bytes) -> int:
        self.end = (self.end + piece)[-END_BYTES_MAX:]
        return self._body.take(piece)

    async def drained(self) -> None:
        await self._body.drained()


class PassedOn:
    """An answer on its way; ``stream`` examines the events of a stream.

    ``figures`` are what the answer says of itself, as far as it has come.
    """

    def __init__(
        self,
        request: web.Request,
        dialect: Dialect,
        answer: Answer,
        stream: ModelStream | None,
        room: Room,
    ) -> None:
        self._request = request
        self._dialect = dialect
        self._answer = answer
        self._stream = stream if answer.is_stream else None
        self._room = room
        self._body: RelayedBody | None = None
        self._relay: Relay | None = None
        self._end: _KeptEnd | None = None
        self._has_come = False
        # It isn't kept until it has been passed on.
        self._whole = _figures_of_whole(dialect, answer)
        self.response = web.StreamResponse(
            status=answer.status, headers=to_client(answer.response.fields)
        )

    @property
    def has_begun(self) -> bool:
        return self._body is not None

    @property
    def has_client(self) -> bool:
        return is_connected(self._request)

    def note(self, record: CallRecord) -> None:
        """Put on record what was passed on, and how that ended, unless it is known."""
        if self.has_begun:
            record.status = self._answer.status
        record.figures = self.figures
        if self._relay is not None:
            record.answer_bytes = self._relay.size
            record.digests = {
                "received": self._relay.received.hexdigest(),
                "sent": self._relay.sent.hexdigest(),
            }
        if self.has_ended:
            is_error = self._answer.status >= HTTPStatus.BAD_REQUEST
            has_error = self._stream is not None and self._stream.has_error
            record.outcome = (
                CallOutcome.PROVIDER_ERROR if is_error or has_error else CallOutcome.OK
            )

    @property
    def has_ended(self) -> bool:
        """Whether all has come; of a stream, its last event."""
        return self._stream.has_ended if self._stream else self._has_come

    @property
    def has_failed(self) -> bool:
        """Whether the provider itself has ended a stream by an error."""
        return self._stream is not None and self._stream.has_failed

    @property
    def figures(self) -> Figures:
        if self._stream is not None:
            return self._stream.figures
        if self._end is None or self._answer.status != HTTPStatus.OK:
            return self._whole
        return figures_at_end(self._dialect, self._end.end)

    @property
    def response_id(self) -> str | None:
        """Return the id by which others go on from a response, once it is known."""
        if self._dialect is not Dialect.OPENAI_RESPONSES:
            return None
        if self._stream is not None:
            return self._stream.response_id
        return self._whole.response_id

    async def run(self) -> None:
        """Pass everything on.

        :raises NoAnswerError: the provider's answer was cut off
        :raises ConnectionError: the client has left, or doesn't read
        """
        answer, stream, response = self._answer, self._stream, self.response
        await self._prepare()
        body = self._body = RelayedBody(self._request, response)
        scanner = None
        if stream is not None:
            scanner = EventScanner(stream.markers, stream.examine, self._room)
        elif not answer.is_whole:
            self._end = _KeptEnd(body)
        relay = self._relay = Relay(
            self._end or body,
            scanner,
            last_has=stream.numbered if stream else b"",
            whole_events=True,
        )
        relay.take(answer.held)
        answer.held = b""
        try:
            with answering():
                await relay.run(answer.response)
        except NoAnswerError:
            # After its last event a stream is whole, however its connection ends.
            if stream is None or not stream.has_ended:
                raise
        finally:
            if scanner is not None:
                scanner.close()
        if self._is_cut:
            raise NoAnswerError(CUT, AttemptOutcome.CUT)
        self._has_come = True
        await response.write_eof()

    async def _prepare(self) -> None:
        """Send the head."""
        answer, response = self._answer, self.response
        response.headers[REQUEST_ID_HEADER] = self._request[REQUEST_ID]
        length = answer.response.header(b"content-length")
        if self._stream is not None:
            # nginx would keep events until there are many.
            response.headers["X-Accel-Buffering"] = "no"
        elif answer.is_whole:
            response.content_length = len(answer.held)
        elif length is not None:
            response.content_length = int(length)
        await response.prepare(self._request)

    @property
    def _is_cut(self) -> bool:
        """Whether what has come has no end."""
        if self._stream is not None:
            return not self._stream.has_ended
        end = self._end
        return end is not None and is_cut_document(self._answer.response, end.end)

    async def fail(self, message: str) -> None:
        """End what can't go on: by the dialect's own error, or else by a cut.

        :raises ConnectionError: the client has left, or doesn't read
        """
        if self._body is not None and self._take_failure(message):
            await self._body.drained()
            await self.response.write_eof()

    def fail_at_once(self, message: str) -> None:
        """Likewise, for a task that is being cancelled; the connection ends, too."""
        if self._body is not None and self._take_failure(message):
            self._body.end()

    def _take_failure(self, message: str) -> bool:
        """Send the dialect's own error, or else cut; return which of them."""
        stream, body, relay = self._stream, self._body, self._relay
        assert body is not None
        assert relay is not None, "they come together"
        event = b""
        if stream is not None and not stream.has_ended and not relay.is_within_event:
            event = stream.failure(message, relay.last)
        if event:
            relay.add(event)
            body.take(event)
        else:
            body.cut()
        return bool(event)


def _figures_of_whole(dialect: Dialect, answer: Answer) -> Figures:
    if not answer.is_whole or answer.is_stream or answer.status != HTTPStatus.OK:
        return Figures()
    try:
        document = orjson.loads(answer.held)
    except orjson.JSONDecodeError:
        return Figures()
    return figures_of(dialect, document) if isinstance(document, dict) else Figures()
