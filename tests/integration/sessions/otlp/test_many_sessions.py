"""A request with many new sessions reads the log a few times, not for each of them."""

from unittest.mock import patch

from service.event_log import aggregate_reader
from service.sessions.otlp.recording import COMMANDS_AT_ONCE
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import llm, report, session, span
from tests.support.sessions.recording import Recorder

SESSIONS = 200
# The names that the model may have in the catalog, by each of the first commands.
LOADS_MAX = 3 * COMMANDS_AT_ONCE


async def test_many_new_sessions_are_not_loaded_one_by_one(
    recorder: Recorder, ada: Caller
) -> None:
    spans = [
        each
        for number in range(1, SESSIONS + 1)
        for each in (
            span(1, trace=number, session__id=f"chat-{number}", input__value="q"),
            llm(2, 1, 10, 1, trace=number),
        )
    ]
    with patch.object(aggregate_reader, "load", wraps=aggregate_reader.load) as loads:
        exported = await report(recorder, *spans)

    assert exported.rejected == 0
    for number in (1, SESSIONS):
        found = await session(ada, f"chat-{number}", [exported])
        assert (found["num_traces"], found["first_input"]) == (1, "q")
    assert loads.call_count <= LOADS_MAX < SESSIONS
