"""The answer of a target: held until it may count, then passed on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web

from service.http.disconnect import is_connected
from service.http.envelope import JSON
from service.http.operation import EVENT_STREAM
from service.http.relayed_body import RelayedBody
from service.http.streaming import SlowReaderError
from service.http.telemetry import REQUEST_ID
from service.model_gateway.protocol.headers import to_client
from service.model_gateway.protocol.streams import ModelStream
from service.upstream_http.event_scanner import EventScanner, Room
from service.upstream_http.relay import Relay
from service.upstream_http.response import Response

# Of an answer that is no stream: until then, another target may still answer.
HELD_BYTES_MAX: Final = 1024 * 1024
# A provider has its own id in X-Request-Id; this one is in the service's log.
REQUEST_ID_HEADER: Final = "Agent-Runtime-Request-Id"
CUT: Final = "the provider closed the connection before its answer's end"
NOT_HTTP: Final = "the provider's answer isn't valid HTTP"
SILENT: Final = "the provider sent nothing for too long"


class NoAnswerError(Exception):
    """A target hasn't answered; ``str`` says why, in words for clients."""


class NotAskedError(NoAnswerError):
    """Nothing was sent to a target, which isn't to blame for it."""


@contextmanager
def answering() -> Iterator[None]:
    """Say in words for clients why a provider's answer doesn't come, or not all of it.

    :raises NoAnswerError: it is silent for too long, closes the connection, or sends
        what isn't HTTP
    """
    try:
        yield
    except SlowReaderError:
        raise
    except TimeoutError:
        raise NoAnswerError(SILENT) from None
    except OSError:
        raise NoAnswerError(CUT) from None
    except ValueError:
        raise NoAnswerError(NOT_HTTP) from None


@dataclass(slots=True)
class Answer:
    """An answer of which nothing has been passed on; ``held`` are its first bytes."""

    response: Response
    held: bytes
    is_whole: bool

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def is_stream(self) -> bool:
        return _is_stream(self.response)


def _is_stream(response: Response) -> bool:
    # Nothing here decompresses one.
    coding = response.header(b"content-encoding")
    return (
        response.status == HTTPStatus.OK
        and response.content_type == EVENT_STREAM
        and coding in (None, "identity")
    )


async def held_answer(response: Response, first: bytes) -> Answer:
    """Return an answer whose first bytes have arrived; one that is no stream, whole.

    That is, if it is no larger than ``HELD_BYTES_MAX``.

    :raises NoAnswerError: it was cut off
    """
    if not first and _is_stream(response):
        raise NoAnswerError(CUT)
    held, piece = first, first
    with answering():
        while piece and not _is_stream(response) and len(held) <= HELD_BYTES_MAX:
            piece = await response.read()
            held += piece
    is_whole = not piece
    if is_whole and _is_cut_document(response, held):
        raise NoAnswerError(CUT)
    return Answer(response, held, is_whole)


def _is_cut_document(response: Response, end: bytes) -> bool:
    """Say whether a document of JSON lacks its end, of one that has no length.

    Then its end is that of the connection, which may have been cut.
    """
    if response.headers.keys() & {b"content-length", b"transfer-encoding"}:
        return False
    return response.content_type == JSON and not end.rstrip().endswith((b"}", b"]"))


class PassedOn:
    """An answer on its way to a client; ``stream`` examines the events of a stream."""

    def __init__(
        self,
        request: web.Request,
        answer: Answer,
        stream: ModelStream | None,
        room: Room,
    ) -> None:
        self._request = request
        self._answer = answer
        self._stream = stream if answer.is_stream else None
        self._room = room
        self._body: RelayedBody | None = None
        self._relay: Relay | None = None
        self._has_come = False
        self.response = web.StreamResponse(
            status=answer.status, headers=to_client(answer.response.fields)
        )

    @property
    def has_begun(self) -> bool:
        return self._body is not None

    @property
    def has_client(self) -> bool:
        return is_connected(self._request)

    @property
    def has_ended(self) -> bool:
        """Whether all has come; of a stream, its last event."""
        return self._stream.has_ended if self._stream else self._has_come

    @property
    def has_failed(self) -> bool:
        """Whether the provider itself has ended a stream by an error."""
        return self._stream is not None and self._stream.has_failed

    @property
    def response_id(self) -> str | None:
        """Return the id by which others go on from a stream, once it is known."""
        return self._stream.response_id if self._stream else None

    async def run(self) -> None:
        """Pass everything on.

        :raises NoAnswerError: the provider's answer was cut off
        :raises ConnectionError: the client has left, or doesn't read
        """
        answer, stream, response = self._answer, self._stream, self.response
        response.headers[REQUEST_ID_HEADER] = self._request[REQUEST_ID]
        if stream is not None:
            # nginx would keep events until there are many.
            response.headers["X-Accel-Buffering"] = "no"
        length = answer.response.header(b"content-length")
        if answer.is_whole:
            response.content_length = len(answer.held)
        elif length is not None and stream is None:
            response.content_length = int(length)
        await response.prepare(self._request)
        scanner = None
        if stream is not None:
            scanner = EventScanner(stream.markers, stream.examine, self._room)
        self._body = RelayedBody(self._request, response)
        relay = self._relay = Relay(
            self._body,
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
        if stream is not None and not stream.has_ended:
            raise NoAnswerError(CUT)
        if stream is None and _is_cut_document(answer.response, relay.last):
            raise NoAnswerError(CUT)
        self._has_come = True
        await response.write_eof()

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
            body.take(event)
        else:
            body.cut()
        return bool(event)
