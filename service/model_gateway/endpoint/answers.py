"""The answer of a target: held until it may count, then passed on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from service.http.envelope import JSON
from service.http.operation import EVENT_STREAM
from service.http.streaming import SlowReaderError
from service.model_gateway.calls.call_record import AttemptOutcome
from service.upstream_http.response import Response

# Of an answer that is no stream: until then, another target may still answer.
HELD_BYTES_MAX: Final = 1024 * 1024
CUT: Final = "the provider closed the connection before its answer's end"
NOT_HTTP: Final = "the provider's answer isn't valid HTTP"
SILENT: Final = "the provider sent nothing for too long"


class NoAnswerError(Exception):
    """A target hasn't answered; ``str`` says why, in words for clients."""

    def __init__(self, message: str, outcome: AttemptOutcome) -> None:
        super().__init__(message)
        self.outcome = outcome


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
        raise NoAnswerError(SILENT, AttemptOutcome.SILENT) from None
    except OSError:
        raise NoAnswerError(CUT, AttemptOutcome.CUT) from None
    except ValueError:
        raise NoAnswerError(NOT_HTTP, AttemptOutcome.NOT_HTTP) from None


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
        raise NoAnswerError(CUT, AttemptOutcome.CUT)
    held, piece = first, first
    with answering():
        while piece and not _is_stream(response) and len(held) <= HELD_BYTES_MAX:
            piece = await response.read()
            held += piece
    is_whole = not piece
    if is_whole and is_cut_document(response, held):
        raise NoAnswerError(CUT, AttemptOutcome.CUT)
    return Answer(response, held, is_whole)


def is_cut_document(response: Response, end: bytes) -> bool:
    """Say whether a document of JSON lacks its end, of one that has no length.

    Then its end is that of the connection, which may have been cut.
    """
    if response.headers.keys() & {b"content-length", b"transfer-encoding"}:
        return False
    return response.content_type == JSON and not end.rstrip().endswith((b"}", b"]"))
