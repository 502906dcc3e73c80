"""What a client gets when the only target of its call fails, in each dialect."""

import asyncio
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from service.model_gateway.endpoint import forwarding
from service.model_gateway.endpoint.answers import CUT as WAS_CUT
from service.model_gateway.endpoint.answers import NOT_HTTP, SILENT
from tests.integration.model_gateway.dialects import Spoken
from tests.integration.model_gateway.faults import (
    CUT,
    REFUSED,
    UNANSWERED,
    assert_says_that_it_was_cut,
    error_event,
    first_two,
    read_to_its_end,
)
from tests.integration.model_gateway.provider import provider, stream
from tests.integration.model_gateway.stage import Stage
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.waiting import TIMEOUT_S, until

SECONDS = {"total_timeout_s": 1}


class Deadline:
    """The end of a call's time, which comes when the test says so."""

    allowed_s: float | None = None
    limit: asyncio.Timeout

    def timeout(self, allowed_s: float) -> asyncio.Timeout:
        self.allowed_s, self.limit = allowed_s, asyncio.timeout(None)
        return self.limit

    def comes(self) -> None:
        self.limit.reschedule(asyncio.get_running_loop().time())


@pytest.fixture
def deadline(monkeypatch: pytest.MonkeyPatch) -> Deadline:
    """Of one call."""
    made = Deadline()
    of_module = SimpleNamespace(
        timeout=made.timeout, CancelledError=asyncio.CancelledError
    )
    monkeypatch.setattr(forwarding, "asyncio", of_module)
    return made


def error_in(spoken: Spoken, document: Any) -> tuple[str, str | None, str]:
    """Return the type, code and message of an error, of which nothing is missing."""
    error = document["error"]
    if spoken.path.startswith("/anthropic"):
        assert document.keys() == {"type", "error", "request_id"}
        assert (document["type"], error.keys()) == ("error", {"type", "message"})
        assert document["request_id"]
        return error["type"], None, error["message"]
    assert (document.keys(), error["param"]) == ({"error"}, None)
    assert error.keys() == {"message", "type", "param", "code"}
    return error["type"], error["code"], error["message"]


@each_dialect
@pytest.mark.parametrize("fault", UNANSWERED)
async def test_without_an_answer_the_client_gets_an_error_in_its_dialect(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    given = UNANSWERED[fault]
    async with given.provider(spoken) as made:
        await stage.routes_to(made.url, **given.terms)

        reply = await stage.call(spoken, stream=given.streams)

        document = orjson.loads(await reply.read())
        await until(lambda: made.open == 0 or fault == "redirect")
    assert (reply.status, reply.content_type) == (503, "application/json")
    kind, code, message = error_in(spoken, document)
    if spoken.path.startswith("/anthropic"):
        assert (kind, code) == ("overloaded_error", None)
    else:
        assert (kind, code) == ("server_error", "no_answer")
    assert message.startswith("no provider has answered: ")
    assert len(made.received) == (1 if given.listens else 0)


@each_dialect
@pytest.mark.parametrize("fault", REFUSED)
async def test_an_error_of_the_provider_is_passed_on_as_it_is(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    sent = REFUSED[fault](spoken)
    head, _, body = sent.partition(b"\r\n\r\n")
    is_stream = b"event-stream" in head
    async with provider(sent) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, stream=True)

        received = await read_to_its_end(reply)
    if is_stream:
        body = body.split(b"\r\n")[1]
    assert received == (body, True)
    assert reply.status == int(head.split(b" ")[1])
    assert reply.content_type == (
        "text/event-stream" if is_stream else "application/json"
    )
    is_limited = fault == "429"
    assert reply.headers.get("Retry-After") == ("7" if is_limited else None)
    assert reply.headers.get("X-RateLimit-Remaining") == ("0" if is_limited else None)
    assert len(made.received) == 1


@each_dialect
@pytest.mark.parametrize("fault", CUT)
async def test_a_stream_that_is_cut_does_not_end_as_if_it_were_whole(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    given, goes_on = CUT[fault], asyncio.Event()
    passed = b"".join(first_two(spoken))
    if fault == "closed after a comment":
        passed += b": still there\n\n"
    async with given.provider(spoken, goes_on) as made:
        await stage.routes_to(made.url, **given.terms)

        reply = await stage.call(spoken, stream=True)
        received = await reply.content.readexactly(len(b"".join(first_two(spoken))))
        goes_on.set()
        rest, has_end = await read_to_its_end(reply)

        await until(lambda: made.open == 0 or not made.closes)
    received += rest[: len(passed) - len(received)]
    rest = rest[len(passed) - len(b"".join(first_two(spoken))) :]
    assert (reply.status, received) == (200, passed)
    said = {"stalled": SILENT, "invalid": NOT_HTTP}
    message = said.get(fault.split(maxsplit=1)[0], WAS_CUT)
    assert_says_that_it_was_cut(spoken, rest, has_end=has_end, message=message)
    assert len(made.received) == 1


@each_dialect
async def test_a_stream_is_cut_when_the_call_takes_too_long(
    stage: Stage, spoken: Spoken, deadline: Deadline
) -> None:
    passed = b"".join(first_two(spoken))
    async with provider(stream(first_two(spoken), b"")) as made:
        await stage.routes_to(made.url, **SECONDS)
        reply = await stage.call(spoken, stream=True)
        assert await reply.content.readexactly(len(passed)) == passed

        deadline.comes()

        rest, has_end = await read_to_its_end(reply)
    assert deadline.allowed_s == 1
    message = "the call took more than 1 s"
    assert_says_that_it_was_cut(spoken, rest, has_end=has_end, message=message)
    assert len(made.received) == 1


@each_dialect
async def test_an_error_within_a_stream_is_passed_on_and_ends_it(
    stage: Stage, spoken: Spoken
) -> None:
    sent = [*first_two(spoken), error_event(spoken)]
    async with provider(stream(sent)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, stream=True)

        received = await read_to_its_end(reply)
    assert received == (b"".join(sent), True)
    assert len(made.received) == 1


@each_dialect
@pytest.mark.parametrize("has_begun", [True, False])
async def test_the_upstream_connection_ends_when_the_client_leaves(
    stage: Stage, spoken: Spoken, *, has_begun: bool
) -> None:
    async with provider(stream(first_two(spoken), b"") if has_begun else b"") as made:
        await stage.routes_to(made.url)
        call = asyncio.create_task(stage.call(spoken, stream=True))
        await until(lambda: made.received)
        if has_begun:
            reply = await asyncio.wait_for(call, TIMEOUT_S)
            await reply.content.readany()
        assert made.open == 1

        if has_begun:
            reply.close()
        else:
            call.cancel()

        await until(lambda: made.open == 0)
    assert len(made.received) == 1
