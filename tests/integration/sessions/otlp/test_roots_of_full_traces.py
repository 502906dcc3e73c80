"""Of a trace with too many spans, what begins its turn is taken, and its session."""

from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import (
    IS_REMOTE,
    Exported,
    llm,
    report,
    session,
    span,
)
from tests.support.sessions.recording import Recorder, register_agent

pytestmark = pytest.mark.usefixtures("few_spans")
MOST = 20
IN_TWO_YEARS = 2 * 365 * 86_400


@pytest.fixture
def few_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("kept_traces", "pending"):
        name = f"service.sessions.otlp.{module}.SPANS_OF_TRACE_MAX"
        monkeypatch.setattr(name, MOST)


def calls(first: int, count: int, **words: Any) -> list[Span]:
    numbers = range(first, first + count)
    return [llm(n, 1, 10, 1, start=1 + n / 1000, **words) for n in numbers]


async def turns(reader: Caller, sent: Sequence[Exported]) -> Any:
    return (await session(reader, "chat-1", sent))["turns"]


async def test_a_root_in_another_system_is_taken(
    recorder: Recorder, ada: Caller
) -> None:
    called = span(1, 99, flags=IS_REMOTE, took=9, session__id="chat-1")

    sent = await report(recorder, called, *calls(10, 3 * MOST))

    assert (sent.status, sent.rejected) == (200, 3 * MOST)
    (turn,) = await turns(ada, [sent])
    assert turn["unpriced"] == "count_missing"


async def test_the_session_that_only_refused_spans_name_is_kept(
    recorder: Recorder, ada: Caller
) -> None:
    first = await report(recorder, span(1, took=9), *calls(10, MOST - 5))
    refused = await report(recorder, *calls(100, MOST, session__id="chat-1"))

    assert (first.status, refused.status) == (200, 400)

    # The refusal tells the position of what it changed.
    (turn,) = await turns(ada, [refused])
    assert "calls" in turn["estimated"] or turn["unpriced"] == "no_such_model"


async def test_a_refused_turn_is_refused_once(recorder: Recorder, ada: Caller) -> None:
    # given: a root ahead of the clock, and the session of another agent
    await recorder.start("chat-1")
    other = Recorder(recorder.caller, await register_agent(ada))
    ahead = span(1, start=IN_TWO_YEARS, took=9, session__id="chat-2")
    taken = span(1, took=9, session__id="chat-1")
    small = span(500, trace=2, session__id="chat-3")

    # when
    both = await report(recorder, ahead, *calls(10, 3 * MOST), small)
    foreign = await report(other, taken, *calls(10, 3 * MOST))

    # then
    assert (both.status, both.rejected) == (200, 3 * MOST + 1)
    assert foreign.status == 400
