"""Token counts without bound would stop the followers of everybody's sessions."""

from datetime import UTC, datetime, timedelta

from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.resources import Resources
from service.sessions.aggregate import ChatSession
from service.sessions.cost import NO_CHARGE
from service.sessions.turn import TOKENS_MAX, SealedTexts, Texts, TokenCounts, Turn
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import llm, report, span
from tests.support.sessions.recording import LIST, LONG_AGO, NOON, Recorder

# Two of them exceed what PostgreSQL holds as a bigint.
HALF = 2**62


async def test_a_trace_has_at_most_as_many_tokens_as_a_turn(
    recorder: Recorder,
) -> None:
    calls = [llm(number, 1, TOKENS_MAX, 1) for number in (2, 3)]

    taken = await report(recorder, span(1, session__id="s"), *calls)

    assert taken.status == 400
    assert b"the turn is not valid: prompt_tokens is more than" in taken.body


async def test_the_tokens_of_one_model_are_bounded_too(recorder: Recorder) -> None:
    # The output of the whole trace is unknown, that of one model is not.
    calls = [llm(number, 1, 1, TOKENS_MAX) for number in (2, 3)]
    unknown = span(4, 1, openinference__span__kind="LLM", llm__token_count__prompt=1)

    taken = await report(recorder, span(1, session__id="s"), *calls, unknown)

    assert taken.status == 400
    assert b"the turn is not valid: completion_tokens is more than" in taken.body


async def test_turns_recorded_without_this_bound_are_summed_up(
    recorder: Recorder, resources: Resources, ada: Caller
) -> None:
    async def record(work: UnitOfWork) -> None:
        session = ChatSession(
            session_id="chat-1",
            agent_id=recorder.agent_id,
            user_id=str(ada.user_id),
            started_at=NOON.isoformat(),
        )
        for number in range(3):
            turn = Turn(
                turn_id=f"t{number}",
                started_at=NOON,
                ended_at=NOON + timedelta(seconds=1),
                tokens=TokenCounts(
                    prompt=HALF,
                    completion=HALF,
                    cache_read=HALF,
                    cache_creation=HALF,
                ),
                texts=Texts(),
            )
            session.record_turn(turn, SealedTexts(), NO_CHARGE)
        work.save(session)

    _, appended = await execute(
        resources.log, record, metadata={"actor": "test"}, at=datetime.now(UTC)
    )

    assert appended is not None
    seen = {"X_Min_Position": str(appended.position)}
    listed = await ada.get(f"{LIST}?start_time={LONG_AGO}", **seen)
    used = await ada.get("/api/usage?from_day=2026-03-01", **seen)
    expected = {
        "total": 6 * HALF,
        "prompt": 3 * HALF,
        "completion": 3 * HALF,
        "cache_read": 3 * HALF,
        "cache_creation": 3 * HALF,
    }
    assert listed.status == used.status == 200
    assert listed.data["sessions"][0]["token_usage"] == expected
    assert used.data["usage"][0]["token_usage"] == expected
