"""One session with its turns."""

import pytest

from tests.support.callers import Caller
from tests.support.sessions.recording import LONG_AGO, Recorder, at, turn

SESSION = "/api/observability/session"


async def test_a_session_shows_its_turns_from_the_earliest_on(
    recorder: Recorder, ada: Caller
) -> None:
    await recorder.start("chat-1")
    await recorder.turn(
        "chat-1",
        turn(
            "second",
            60,
            1.5,
            trace_id="4bf92f3577b34da6",
            provider="acme",
            model="swift",
            prompt_tokens=10,
            cache_read_tokens=4,
            is_error=True,
            error="too long",
        ),
    )
    await recorder.turn("chat-1", turn("first", 0, 1, input="hello", output="hi"))

    reply = await ada.get(f"{SESSION}/chat-1", X_Min_Position=recorder.position)

    assert (reply.status, reply.message) == (200, "session")
    assert reply.position >= int(recorder.position)
    first, second = reply.data["turns"]
    assert (first["turn_id"], first["input"], first["output"]) == (
        "first",
        "hello",
        "hi",
    )
    assert second.pop("priced_at") > LONG_AGO
    assert second == {
        "turn_id": "second",
        "trace_id": "4bf92f3577b34da6",
        "start_time": at(60),
        "end_time": "2026-03-01T12:01:01.500000Z",
        "latency_ms": 1500,
        "provider": "acme",
        "model": "swift",
        "token_usage": {
            "total": None,
            "prompt": 10,
            "completion": None,
            "cache_read": 4,
            "cache_creation": None,
        },
        "cost": None,
        "currency": None,
        "price_id": None,
        "priced_as": None,
        "pricing_rule": None,
        "unpriced": "no_such_model",
        "contract_id": None,
        "list_cost": None,
        "list_currency": None,
        "reported_cost": None,
        "reported_cost_differs": False,
        "estimated": [],
        "is_error": True,
        "error": "too long",
        "input": None,
        "input_truncated": False,
        "output": None,
        "output_truncated": False,
        "num_tool_calls": None,
        "num_tool_calls_with_error": None,
    }
    assert reply.data["has_more_turns"] is False
    [listed] = (await recorder.list(by=ada)).data["sessions"]
    assert listed == {name: reply.data[name] for name in listed}


async def test_turns_come_in_pages(recorder: Recorder) -> None:
    await recorder.record(
        "chat-1", *(turn(f"t{number}", number) for number in range(5))
    )
    await recorder.list()

    pages = [
        (await recorder.caller.get(f"{SESSION}/chat-1?limit=2&offset={offset}")).data
        for offset in (0, 2, 4, 6)
    ]

    assert [[each["turn_id"] for each in page["turns"]] for page in pages] == [
        ["t0", "t1"],
        ["t2", "t3"],
        ["t4"],
        [],
    ]
    assert [page["has_more_turns"] for page in pages] == [True, True, False, False]


async def test_who_sees_a_session(
    recorder: Recorder, readers: dict[str, Caller]
) -> None:
    await recorder.start("chat-1", user_id=str(readers["user"].user_id))
    await recorder.list()

    seen = {
        name: await caller.get(f"{SESSION}/chat-1") for name, caller in readers.items()
    }

    assert {name: reply.status for name, reply in seen.items()} == {
        "manager": 200,
        "user": 200,
        "stranger": 404,
        "superuser": 200,
        "auditor": 200,
    }
    unknown = await readers["manager"].get(f"{SESSION}/none")
    invisible = seen["stranger"]
    assert (unknown.status, unknown.message) == (invisible.status, invisible.message)


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "offset=-1", "turns=all"])
async def test_a_bad_parameter_is_refused(ada: Caller, query: str) -> None:
    reply = await ada.get(f"{SESSION}/chat-1?{query}")

    assert (reply.status, reply.code) == (400, "malformed_request")
