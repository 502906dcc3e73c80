"""What goes wrong at providers, as bytes, and how each dialect says that it did."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import ClientPayloadError, ClientResponse

from service.model_gateway.dialects import Dialect
from tests.integration.model_gateway.dialects import Spoken
from tests.integration.model_gateway.provider import (
    CHUNKED,
    LAST_CHUNK,
    STREAM,
    Provider,
    answer,
    chunk,
    provider,
    stream,
)
from tests.support.waiting import TIMEOUT_S

# Nothing listens there.
NOBODY = "http://127.0.0.1:1/v1"
UNENDING_HEAD = b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 70_000
QUICK = {"first_byte_timeout_s": 1}


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """A provider that sends nothing which a client may get."""

    sends: Callable[[Spoken], bytes] = lambda _: b""
    closes: bool = True
    listens: bool = True
    streams: bool = True
    terms: dict[str, int] = field(default_factory=dict)

    @asynccontextmanager
    async def provider(self, spoken: Spoken) -> AsyncIterator[Provider]:
        async with provider(self.sends(spoken)) as made:
            made.closes = self.closes
            if not self.listens:
                made.url = NOBODY
            yield made


def without_length(content: bytes, kind: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\n%b" % (kind, content)


UNANSWERED = {
    "refused": Unanswered(listens=False),
    "closed before the head": Unanswered(),
    "closed in the head": Unanswered(sends=lambda _: CHUNKED[:20]),
    "closed after the head": Unanswered(sends=lambda _: CHUNKED),
    "closed after a head without a length": Unanswered(
        sends=lambda _: STREAM + b"\r\n"
    ),
    "ended after the head": Unanswered(sends=lambda _: CHUNKED + LAST_CHUNK),
    "too large a head": Unanswered(sends=lambda _: UNENDING_HEAD, closes=False),
    "not HTTP": Unanswered(sends=lambda _: b"SSH-2.0-OpenSSH_9.6\r\n", closes=False),
    "silent": Unanswered(closes=False, terms=QUICK),
    "silent after the head": Unanswered(
        sends=lambda _: CHUNKED, closes=False, terms=QUICK
    ),
    "redirect": Unanswered(
        sends=lambda _: answer(
            {}, "307 Temporary Redirect", b"Location: http://127.0.0.1:1/v1\r\n"
        ),
        closes=False,
    ),
    "no stream, cut": Unanswered(
        sends=lambda spoken: answer(spoken.whole)[:-10], streams=False
    ),
    "no stream, cut without a length": Unanswered(
        sends=lambda spoken: without_length(
            orjson.dumps(spoken.whole)[:-10], b"application/json"
        ),
        streams=False,
    ),
    "no stream, stalled": Unanswered(
        sends=lambda spoken: answer(spoken.whole)[:-10],
        closes=False,
        streams=False,
        terms={"idle_timeout_s": 1},
    ),
}


@dataclass(kw_only=True)
class Cut:
    """A provider that ends, or stalls, after two events of a stream.

    ``then`` is sent when ``goes_on``: when the client has read both.
    """

    head: bytes = CHUNKED
    frame: Callable[[bytes], bytes] = chunk
    then: Callable[[Spoken], bytes] = lambda _: b""
    closes: bool = True
    terms: dict[str, int] = field(default_factory=dict)

    @asynccontextmanager
    async def provider(
        self, spoken: Spoken, goes_on: asyncio.Event
    ) -> AsyncIterator[Provider]:
        async def send(writer: asyncio.StreamWriter) -> None:
            pieces = map(self.frame, first_two(spoken))
            writer.write(self.head + b"".join(pieces))
            await asyncio.wait_for(goes_on.wait(), TIMEOUT_S)
            writer.write(self.then(spoken))

        async with provider(send) as made:
            made.closes = self.closes
            yield made


def first_two(spoken: Spoken) -> tuple[bytes, ...]:
    return spoken.events[:2]


def half_of_the_third(spoken: Spoken) -> bytes:
    return spoken.events[2][:30]


def as_it_is(piece: bytes) -> bytes:
    return piece


UNFRAMED = STREAM + b"\r\n"
STALLED = {"idle_timeout_s": 1}
CUT = {
    "closed between events": Cut(),
    "closed within an event": Cut(then=lambda spoken: chunk(half_of_the_third(spoken))),
    "closed within a chunk": Cut(
        then=lambda spoken: chunk(half_of_the_third(spoken))[:-12]
    ),
    "ended between events": Cut(then=lambda _: LAST_CHUNK, closes=False),
    "ended within an event": Cut(
        then=lambda spoken: chunk(half_of_the_third(spoken)) + LAST_CHUNK, closes=False
    ),
    "closed without a length": Cut(head=UNFRAMED, frame=as_it_is),
    "closed within an event without a length": Cut(
        head=UNFRAMED, frame=as_it_is, then=half_of_the_third
    ),
    "closed before its length": Cut(
        head=STREAM + b"Content-Length: 100000\r\n\r\n", frame=as_it_is
    ),
    "closed after a comment": Cut(then=lambda _: chunk(b": still there\n\n")),
    "invalid chunk": Cut(then=lambda _: b"zz\r\n", closes=False),
    "stalled between events": Cut(closes=False, terms=STALLED),
    "stalled within an event": Cut(
        then=lambda spoken: chunk(half_of_the_third(spoken)),
        closes=False,
        terms=STALLED,
    ),
}


def error_of(spoken: Spoken, kind: str, message: str) -> bytes:
    """Return an error in a dialect, with spaces that nobody else would write."""
    error = b'{ "type" : "%b", "code": "%b", "message": "%b" }' % (
        kind.encode(),
        kind.encode(),
        message.encode(),
    )
    if spoken.dialect is Dialect.ANTHROPIC_MESSAGES:
        return b'{"type":"error",  "error":%b}\n' % error
    return b'{"error":%b}\n' % error


NO_CREDIT = {
    Dialect.OPENAI_CHAT: ("insufficient_quota", "You exceeded your current quota"),
    Dialect.OPENAI_RESPONSES: ("billing_not_active", "Your account is not active"),
    Dialect.ANTHROPIC_MESSAGES: (
        "invalid_request_error",
        "Your credit balance is too low to access the API",
    ),
}
LIMITED = b"Retry-After: 7\r\nX-RateLimit-Remaining: 0\r\n"
# The statuses by which a provider refuses, so that another one may answer.
REFUSED: dict[str, Callable[[Spoken], bytes]] = {
    "429": lambda spoken: answer(
        error_of(spoken, "rate_limit_error", "slow"), "429 Too Many Requests", LIMITED
    ),
    "500": lambda spoken: answer(
        error_of(spoken, "api_error", "oops"), "500 Internal Server Error"
    ),
    "529": lambda spoken: answer(
        error_of(spoken, "overloaded_error", "busy"), "529 Overloaded"
    ),
    "402": lambda spoken: answer(
        error_of(spoken, "billing_error", "pay"), "402 Payment Required"
    ),
    "400 out of credit": lambda spoken: answer(
        error_of(spoken, *NO_CREDIT[spoken.dialect]), "400 Bad Request"
    ),
    "500 that says to be a stream": lambda spoken: stream(
        [error_of(spoken, "api_error", "oops")]
    ).replace(b"200 OK", b"500 Internal Server Error"),
}


def error_event(spoken: Spoken) -> bytes:
    """Return the event by which a provider ends a stream itself."""
    match spoken.dialect:
        case Dialect.ANTHROPIC_MESSAGES:
            data = error_of(spoken, "overloaded_error", "busy")
            return b"event: error\ndata: %b\n" % data
        case Dialect.OPENAI_RESPONSES:
            document = (
                b'{"type":"error","code":"server_error","message":"busy",'
                b'"sequence_number":2}'
            )
            return b"event: error\ndata: %b\n\n" % document
    return b"data: %b\n" % error_of(spoken, "server_error", "busy")


async def read_to_its_end(reply: ClientResponse) -> tuple[bytes, bool]:
    """Return what arrives of an answer, and whether its end does."""
    received = b""
    try:
        async for piece in reply.content.iter_any():
            received += piece
    except ClientPayloadError:
        return received, False
    return received, True


def assert_says_that_it_was_cut(
    spoken: Spoken, rest: bytes, *, has_end: bool, message: str
) -> None:
    """Check what follows the two events of a stream that was cut."""
    if spoken.dialect is Dialect.OPENAI_CHAT:
        # The dialect has no event for it, and [DONE] would say that all is well.
        assert (rest, has_end) == (b"", False)
        return
    assert rest.endswith(b"\n\n")
    assert has_end
    kind, data = rest.removesuffix(b"\n\n").split(b"\n")
    document = orjson.loads(data.removeprefix(b"data: "))
    assert kind == b"event: " + document["type"].encode()
    if spoken.dialect is Dialect.ANTHROPIC_MESSAGES:
        assert document["type"] == "error"
        assert document["error"] == {"type": "api_error", "message": message}
        return
    assert document["type"] == "response.failed"
    assert document["sequence_number"] == 2
    response = document["response"]
    assert (response["id"], response["status"]) == ("resp_1", "failed")
    assert response["error"] == {"code": "server_error", "message": message}
