"""Operation 4: what the list of sessions answers."""

from unittest.mock import ANY

import pytest

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.recording import LIST, LONG_AGO, Recorder, at, turn


async def test_a_row_says_everything_that_its_turns_do(
    recorder: Recorder, ada: Caller
) -> None:
    started = await recorder.start("chat-1", user_id=str(ada.user_id))
    tokens = {"prompt_tokens": 100, "completion_tokens": 20}
    for number, took in enumerate([1, 2, 4]):
        words = {"input": f"question {number}", "output": f"answer {number}"}
        await recorder.turn(
            "chat-1", turn(f"t{number}", number * 60, took, **words, **tokens)
        )
    await recorder.end("chat-1", 200)

    reply = await recorder.list(by=ada)

    assert (reply.status, reply.message) == (200, "sessions in the window")
    assert reply.data["sessions"] == [
        {
            "id": started.data["id"],
            "session_id": "chat-1",
            "agent_id": recorder.agent_id,
            "user_id": str(ada.user_id),
            "start_time": "2026-03-01T12:00:00.000000Z",
            "end_time": "2026-03-01T12:03:20.000000Z",
            "duration_ms": 200_000,
            "has_ended": True,
            "cost_summary": {
                "total": {"cost": None, "currency": None},
                "traces_without_price": 3,
                "unpriced": ["no_such_model"],
                "first_priced_at": ANY,
                "last_priced_at": ANY,
                "list_total": {"cost": None, "currency": None},
                "reported": {"cost": None, "traces": 0},
            },
            "token_usage": {
                "total": 360,
                "prompt": 300,
                "completion": 60,
                "cache_read": None,
                "cache_creation": None,
            },
            "num_traces": 3,
            "num_traces_with_error": 0,
            "trace_latency_ms_p50": 2000,
            "trace_latency_ms_p99": 3960,
            "num_tool_calls": None,
            "num_tool_calls_with_error": None,
            "first_input": "question 0",
            "first_input_truncated": False,
            "last_output": "answer 2",
            "last_output_truncated": False,
            "session_annotations": [],
            "session_annotation_summaries": [],
            "trace_store": "not_configured",
            "figures_from": "service",
            "trace_store_figures": None,
        }
    ]
    assert reply.data["pagination"].keys() == {"has_next_page", "end_cursor"}
    assert reply.data["pagination"]["has_next_page"] is False
    assert (reply.data["total_agents"], reply.data["successful_agents"]) == (1, 1)
    assert reply.position >= int(recorder.position)


async def test_what_is_unknown_is_null_and_every_key_is_there(
    recorder: Recorder,
) -> None:
    await recorder.start("chat-1")

    [row] = (await recorder.list()).data["sessions"]

    assert row["cost_summary"]["total"]["cost"] is None
    assert row["token_usage"]["total"] is None
    assert row["first_input"] is row["last_output"] is None
    assert row["trace_latency_ms_p50"] is row["trace_latency_ms_p99"] is None
    assert (row["num_traces"], row["duration_ms"]) == (0, 0)
    assert row["start_time"] == row["end_time"]


async def test_an_empty_list_has_no_cursor(callers: Callers) -> None:
    ada = await callers.user("ada")

    reply = await ada.get(LIST)

    assert reply.data == {
        "sessions": [],
        "pagination": {"has_next_page": False, "end_cursor": None},
        "total_agents": 0,
        "successful_agents": 0,
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # A session is in the window by its last activity.
        (f"start_time={at(30)}", {"long", "later"}),
        (f"start_time={at(100)}", {"long", "later"}),
        (f"start_time={at(100.000001)}", {"later"}),
        (f"start_time={at(201)}", set()),
        (f"start_time={LONG_AGO}&end_time={at(200)}", {"short", "long"}),
        (f"start_time={LONG_AGO}&end_time={at(0)}", set()),
        (f"start_time={at(30)}&end_time={at(150)}", {"long"}),
        # Long ago, so not in the last seven days.
        ("start_time=2026-03-01&session_id_prefix=l", {"long", "later"}),
        ("start_time=2026-03-01&session_id_prefix=lo%25", set()),
        ("start_time=2026-03-01&has_error=true", {"long"}),
        ("start_time=2026-03-01&has_error=false", {"short", "later"}),
    ],
)
async def test_window_and_filters(
    recorder: Recorder, query: str, expected: set[str]
) -> None:
    await recorder.record("short", turn("t1", 0, took=10), start=0)
    await recorder.record("long", turn("t1", 90, took=10, is_error=True), start=1)
    await recorder.start("later", 200)

    reply = await recorder.list(query)

    assert {row["session_id"] for row in reply.data["sessions"]} == expected


async def test_filters_by_agent_and_user(
    recorder: Recorder, callers: Callers, ada: Caller
) -> None:
    root = await callers.user("root", "superuser")
    await recorder.start("of-ada", user_id=str(ada.user_id))
    await recorder.start("of-runtime")

    async def listed(query: str) -> list[str]:
        rows = (await recorder.list(query, by=root)).data["sessions"]
        return [row["session_id"] for row in rows]

    assert await listed(f"user_id={ada.user_id}") == ["of-ada"]
    assert len(await listed(f"agent_id={recorder.agent_id}")) == 2
    assert await listed(f"agent_id={ada.user_id}") == []


async def test_the_window_opens_seven_days_ago_by_default(
    recorder: Recorder,
) -> None:
    await recorder.start("old")
    body = {"agent_id": recorder.agent_id, "session_id": "new"}
    new = await recorder.caller.post("/api/observability/session", body)

    reply = await recorder.caller.get(LIST, X_Min_Position=str(new.position))

    assert [row["session_id"] for row in reply.data["sessions"]] == ["new"]


async def test_who_sees_which_sessions(
    recorder: Recorder, readers: dict[str, Caller]
) -> None:
    await recorder.start("of-bob", user_id=str(readers["user"].user_id))
    await recorder.start("of-runtime")
    seen = {}
    for name, caller in (readers | {"runtime": recorder.caller}).items():
        rows = (await recorder.list(by=caller)).data["sessions"]
        seen[name] = {row["session_id"] for row in rows}

    both = {"of-bob", "of-runtime"}
    assert seen == {
        "manager": both,
        "user": {"of-bob"},
        "runtime": {"of-runtime"},
        "stranger": set(),
        "superuser": both,
        "auditor": both,
    }


async def test_a_dismissed_manager_sees_only_their_own(
    recorder: Recorder, callers: Callers, ada: Caller
) -> None:
    bob = await callers.user("bob")
    await recorder.start("of-runtime")
    path = f"/api/catalog/agents/{recorder.agent_id}/managers/{bob.user_id}"
    recorder.last = await ada.put(path)
    seen = len((await recorder.list(by=bob)).data["sessions"])

    recorder.last = await ada.delete(path)

    assert seen == 1
    assert (await recorder.list(by=bob)).data["sessions"] == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=x",
        "offset=-1",
        "offset=99999999999999999999",
        "start_time=yesterday",
        "start_time=2026-03-02&end_time=2026-03-01",
        "end_time=2020-01-01",
        "after=nonsense",
        "after=",
        "agent_id=1",
        "user_id=1",
        "has_error=perhaps",
        "session_id_prefix=",
        "session_id_prefix=%00",
        "min_position=-1",
        "min_position=9223372036854775808",
        "colour=red",
        "limit=5&limit=6",
    ],
)
async def test_a_bad_parameter_is_refused(callers: Callers, query: str) -> None:
    ada = await callers.user("ada")

    reply = await ada.get(f"{LIST}?{query}")

    assert (reply.status, reply.code) == (400, "malformed_request")
    assert reply.data["errors"]


async def test_a_position_is_waited_for_or_refused(recorder: Recorder) -> None:
    started = await recorder.start("chat-1")

    shown = await recorder.caller.get(
        f"{LIST}?start_time={LONG_AGO}&min_position={started.position}"
    )
    ahead = await recorder.caller.get(f"{LIST}?min_position={started.position + 1000}")

    assert shown.position >= started.position
    assert len(shown.data["sessions"]) == 1
    assert (ahead.status, ahead.code) == (412, "position_beyond_log")


async def test_a_list_counts_the_agents_of_its_page(
    recorder: Recorder, ada: Caller
) -> None:
    await recorder.start("a1", 1)
    await recorder.start("a2", 2)
    other = Recorder(
        recorder.caller,
        (await ada.post("/api/catalog/agents", {"name": "other"})).data["id"],
    )
    await other.start("b1", 3)

    assert [
        (await other.list(query, by=ada)).data["total_agents"]
        for query in ("", "limit=1", "limit=2", "limit=2&offset=1")
    ] == [2, 1, 2, 1]


async def test_a_page_goes_on_over_a_rebuild_and_stays_itself(
    recorder: Recorder, resources: Resources
) -> None:
    """Its statement is prepared on each connection, over tables that are replaced."""
    for number in range(3):
        await recorder.start(f"chat-{number}")
        await recorder.turn(f"chat-{number}", turn("t1", 0, 1))

    async def pages() -> set[bytes]:
        replies = [await recorder.list("limit=2") for _ in range(30)]
        assert {reply.status for reply in replies} == {200}
        return {reply.body for reply in replies}

    before = await pages()
    await expect_rebuild_equals_live(resources, "sessions")

    assert await pages() == before
