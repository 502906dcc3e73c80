"""A trace is a turn of one session, whichever of its spans arrive first."""

from typing import Any

import pytest

from service.sessions import aggregate
from tests.support.callers import Caller, Callers
from tests.support.sessions.otlp.spans import (
    IS_REMOTE,
    llm,
    report,
    session,
    span,
)
from tests.support.sessions.recording import Recorder

LATE = llm(5, 1, 10, 0, start=0.1, session__id="late")


@pytest.mark.parametrize(
    ("first", "later"),
    [
        # An earlier span names another session.
        ([span(1), llm(2, 1, 20, 0, start=0.5, session__id="first")], [LATE]),
        # The turn began where the agent was called, and then the root comes.
        (
            [
                span(1, 9, flags=IS_REMOTE, session__id="first"),
                llm(2, 1, 20, 0, start=0.5),
            ],
            [span(9, start=-1, took=3, session__id="late"), LATE],
        ),
    ],
)
async def test_spans_that_arrive_later_don_t_move_a_turn_to_another_session(
    recorder: Recorder, ada: Caller, first: list[Any], later: list[Any]
) -> None:
    requests = ([*first, llm(4, 1, 5, 0)], later)

    taken = [await report(recorder, *spans) for spans in requests]

    found = await session(ada, "first", taken)
    used = await ada.get(
        "/api/usage?from_day=2026-03-01", X_Min_Position=taken[-1].position
    )
    missing = await ada.get("/api/observability/session/late")
    assert found["token_usage"]["total"] == 20 + 10 + 5
    assert [row["token_usage"]["total"] for row in used.data["usage"]] == [35]
    assert [row["turns"] for row in used.data["usage"]] == [1]
    assert missing.status == 404


async def test_a_turn_that_was_recorded_in_a_later_export_stays_in_its_session(
    recorder: Recorder, ada: Caller
) -> None:
    requests = (
        [llm(2, 1, 20, 0, start=0.5)],
        [llm(3, 1, 7, 0, start=0.5, session__id="first")],
        [span(1)],
        [LATE, llm(4, 1, 5, 0)],
    )

    taken = [await report(recorder, *spans) for spans in requests]

    found = await session(ada, "first", taken)
    assert (found["num_traces"], found["token_usage"]["total"]) == (1, 20 + 7 + 10 + 5)


@pytest.mark.parametrize(("unnamed", "named"), [(1, 2), (2, 1)])
async def test_a_new_session_belongs_to_the_user_whom_one_of_its_traces_names(
    recorder: Recorder,
    callers: Callers,
    ada: Caller,
    unnamed: int,
    named: int,
) -> None:
    bob = await callers.user("bob")

    taken = await report(
        recorder,
        span(1, trace=unnamed, session__id="chat"),
        span(1, trace=named, session__id="chat", user__id=str(bob.user_id)),
    )

    assert (taken.status, taken.body) == (200, b"")
    found = await session(ada, "chat", [taken])
    assert (found["num_traces"], found["user_id"]) == (2, str(bob.user_id))


async def test_a_full_session_takes_what_fits_and_what_comes_late(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregate, "TURNS_MAX", 2)
    requests = (
        [span(1, session__id="chat")],
        [
            llm(2, 1, 10, 1),
            span(1, trace=2, session__id="chat"),
            span(1, trace=3, session__id="chat"),
        ],
    )

    taken = [await report(recorder, *spans) for spans in requests]

    found = await session(ada, "chat", taken)
    assert [int(turn["turn_id"]) for turn in found["turns"]] == [1, 2]
    assert found["token_usage"]["total"] == 11
    assert taken[1].rejected == 1
    assert "a session has at most" in taken[1].reason
