"""Which calls a target of the next group answers, in each dialect."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from service.model_gateway.endpoint.asking import Asking
from service.model_gateway.presets.terms import PresetTerms
from service.model_gateway.routing.plan import PlannedTarget
from tests.integration.model_gateway.dialects import RESPONSES, Spoken
from tests.integration.model_gateway.faults import (
    CUT,
    REFUSED,
    UNANSWERED,
    error_event,
    error_of,
    first_two,
    read_to_its_end,
)
from tests.integration.model_gateway.provider import (
    CHUNKED,
    LAST_CHUNK,
    Provider,
    answer,
    chunk,
    provider,
    stream,
)
from tests.integration.model_gateway.stage import Stage
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.waiting import until


@pytest.fixture
def hurried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only the first attempt of a call meet a limit: the machine may be busy."""
    ask, patient = Asking.ask, {"first_byte_timeout_s": 60, "idle_timeout_s": 60}
    asked: list[PlannedTarget] = []

    async def asks(
        self: Asking, call: object, target: PlannedTarget, terms: PresetTerms
    ) -> object:
        asked.append(target)
        allowed = terms if len(asked) == 1 else {**terms, **patient}
        return await ask(self, call, target, allowed)  # type: ignore[arg-type]  # the same

    monkeypatch.setattr(Asking, "ask", asks)


@asynccontextmanager
async def second(spoken: Spoken) -> AsyncIterator[Provider]:
    async with provider(answer(spoken.whole)) as made:
        yield made


@each_dialect
@pytest.mark.parametrize("fault", UNANSWERED)
@pytest.mark.usefixtures("hurried_once")
async def test_the_second_target_answers_what_the_first_does_not(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    given = UNANSWERED[fault]
    async with given.provider(spoken) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url, **given.terms)

        reply = await stage.call(spoken, stream=given.streams)

        assert (reply.status, await reply.json()) == (200, spoken.whole)
    assert len(first.received) == (1 if given.listens else 0)
    assert len(other.received) == 1


@each_dialect
@pytest.mark.parametrize("fault", REFUSED)
async def test_the_second_target_answers_what_the_first_refuses(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    async with provider(REFUSED[fault](spoken)) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url)

        reply = await stage.call(spoken)

        assert (reply.status, await reply.json()) == (200, spoken.whole)
        assert "Retry-After" not in reply.headers
    assert (len(first.received), len(other.received)) == (1, 1)


@each_dialect
async def test_the_last_refusal_is_passed_on_when_all_refuse(
    stage: Stage, spoken: Spoken
) -> None:
    async with (
        provider(REFUSED["500"](spoken)) as first,
        provider(REFUSED["529"](spoken)) as other,
        provider(b"") as silent,
    ):
        silent.closes = True
        await stage.routes_to(first.url, other.url, silent.url, attempts=3)

        reply = await stage.call(spoken)

        body = error_of(spoken, "overloaded_error", "busy")
        assert (reply.status, await reply.read()) == (529, body)
    received = [len(each.received) for each in (first, other, silent)]
    assert received == [1, 1, 1]


@each_dialect
@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized"])
async def test_an_error_that_no_other_target_could_mend_is_passed_on(
    stage: Stage, spoken: Spoken, status: str
) -> None:
    body = error_of(spoken, "invalid_request_error", "no")
    async with provider(answer(body, status)) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url)

        reply = await stage.call(spoken)

        assert await reply.read() == body
        assert reply.status == int(status.split(" ", maxsplit=1)[0])
    assert (len(first.received), other.opened) == (1, 0)


@each_dialect
@pytest.mark.parametrize("fault", CUT)
async def test_no_second_target_is_asked_after_the_first_byte(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    given, goes_on = CUT[fault], asyncio.Event()
    async with given.provider(spoken, goes_on) as first, second(spoken) as other:
        # All of it may be there before anything is passed on.
        goes_on.set()
        await stage.routes_to(first.url, other.url, **given.terms)

        reply = await stage.call(spoken, stream=True)

        received, has_end = await read_to_its_end(reply)
    assert reply.status == 200
    passed = b"".join(first_two(spoken))
    # What has arrived before a cut may be lost in the client.
    assert received.startswith(passed) or not has_end
    assert b"[DONE]" not in received
    assert (len(first.received), other.opened) == (1, 0)


@each_dialect
async def test_an_error_within_a_stream_is_not_answered_by_a_second_target(
    stage: Stage, spoken: Spoken
) -> None:
    begun, goes_on = b"".join(first_two(spoken)), asyncio.Event()

    async def answering(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(begun))
        await goes_on.wait()
        writer.write(chunk(error_event(spoken)) + LAST_CHUNK)

    async with provider(answering) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url)

        reply = await stage.call(spoken, stream=True)
        received = await reply.content.readexactly(len(begun))
        goes_on.set()

        assert await read_to_its_end(reply) == (error_event(spoken), True)
    assert received == begun
    assert (len(first.received), other.opened) == (1, 0)


@each_dialect
async def test_a_stream_that_begins_with_an_error_is_answered_by_a_second_target(
    stage: Stage, spoken: Spoken
) -> None:
    """As Anthropic does when it is overloaded: with the status 200."""
    async with provider(stream([error_event(spoken)])) as first:
        async with second(spoken) as other:
            await stage.routes_to(first.url, other.url)

            reply = await stage.call(spoken, stream=True)

            assert await reply.json() == spoken.whole
        assert (len(first.received), len(other.received)) == (1, 1)


@each_dialect
async def test_a_stream_that_begins_with_an_error_arrives_if_no_other_target_answers(
    stage: Stage, spoken: Spoken
) -> None:
    async with provider(stream([error_event(spoken)])) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, stream=True)

        assert await read_to_its_end(reply) == (error_event(spoken), True)
    assert reply.status == 200


@each_dialect
async def test_no_second_target_is_asked_when_the_client_has_left(
    stage: Stage, spoken: Spoken
) -> None:
    async with UNANSWERED["silent"].provider(spoken) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url)
        call = asyncio.create_task(stage.call(spoken))
        await until(lambda: first.received)

        call.cancel()

        await until(lambda: first.open == 0)
    assert (len(first.received), other.opened) == (1, 0)


@each_dialect
async def test_a_long_refusal_is_not_kept_open_beside_the_answer(
    stage: Stage, spoken: Spoken
) -> None:
    # Longer than what is held of it, and it never ends.
    refusal = (
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 9000000\r\n\r\n"
        + b"a" * 2**21
    )
    async with provider(refusal) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url, idle_timeout_s=7200)

        reply = await stage.call(spoken)

        assert (reply.status, await reply.json()) == (200, spoken.whole)
        await until(lambda: first.open == 0)


@each_dialect
@pytest.mark.parametrize("end", ["closed", "ended"])
async def test_a_stream_is_whole_after_its_last_event(
    stage: Stage, spoken: Spoken, end: str
) -> None:
    sent = stream(spoken.events, b"" if end == "closed" else LAST_CHUNK)
    async with provider(sent) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(
            spoken, stream=True, stream_options={"include_usage": True}
        )

        received = await read_to_its_end(reply)
    assert received == (b"".join(spoken.events), True)


async def test_a_response_is_continued_where_it_was_made_though_its_client_left(
    stage: Stage,
) -> None:
    refusal, whole = REFUSED["500"](RESPONSES), answer(RESPONSES.whole)
    events = b"".join(RESPONSES.events)
    async with (
        provider(refusal, whole) as first,
        provider(stream(RESPONSES.events, b""), whole) as other,
    ):
        await stage.routes_to(first.url, other.url)
        reply = await stage.call(RESPONSES, stream=True)
        assert await reply.content.readexactly(len(events)) == events
        reply.close()
        await until(lambda: other.open == 0)

        again = await stage.call(RESPONSES, previous_response_id="resp_1")

        assert again.status == 200
    assert (len(first.received), len(other.received)) == (1, 2)


async def test_a_previous_response_that_is_no_text_is_the_providers_to_refuse(
    stage: Stage,
) -> None:
    body = error_of(RESPONSES, "invalid_request_error", "no text")
    async with provider(answer(body, "400 Bad Request")) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(RESPONSES, previous_response_id=["resp_1"])

        assert (reply.status, await reply.read()) == (400, body)
    assert made.received[0].json["previous_response_id"] == ["resp_1"]
