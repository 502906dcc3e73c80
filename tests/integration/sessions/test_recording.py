"""Sessions started, turned and ended over HTTP."""

from urllib.parse import quote

import pytest

from tests.support.callers import Caller, Callers
from tests.support.sessions.recording import Recorder, at, register_agent, turn

SESSION = "/api/observability/session"


async def test_a_session_is_started_under_the_given_id(recorder: Recorder) -> None:
    reply = await recorder.start("chat-1")

    assert (reply.status, reply.message) == (201, "session started")
    assert reply.headers["Location"] == f"{SESSION}/chat-1"
    assert reply.data == {
        "id": reply.data["id"],
        "session_id": "chat-1",
        "agent_id": recorder.agent_id,
        "user_id": str(recorder.caller.user_id),
        "started_at": at(0),
        "ended_at": None,
        "turns": 0,
        "version": 1,
    }


async def test_a_session_without_an_id_is_given_one(recorder: Recorder) -> None:
    body = {"agent_id": recorder.agent_id}

    first = await recorder.caller.post(SESSION, body)
    second = await recorder.caller.post(SESSION, body)

    assert first.status == second.status == 201
    assert first.data["session_id"] != second.data["session_id"]


async def test_starting_a_session_again_changes_nothing(recorder: Recorder) -> None:
    first = await recorder.start("chat-1")

    again = await recorder.start("chat-1", start=60)

    assert (again.status, again.message) == (200, "session was already started")
    assert again.data == first.data
    assert "X-Event-Position" not in again.headers


async def test_an_id_belongs_to_one_agent_and_one_user(
    recorder: Recorder, ada: Caller
) -> None:
    await recorder.start("chat-1")
    other_agent = await register_agent(ada, "another")

    refusals = [
        await recorder.start("chat-1", user_id=str(ada.user_id)),
        await recorder.caller.post(
            SESSION, {"agent_id": other_agent, "session_id": "chat-1"}
        ),
    ]

    assert [(each.status, each.code) for each in refusals] == [
        (409, "session_id_taken")
    ] * 2


@pytest.mark.parametrize("session_id", ["", "chat ", "a\nb", "x" * 129, "list", ".."])
async def test_an_id_that_would_be_lost_is_refused(
    recorder: Recorder, session_id: str
) -> None:
    reply = await recorder.start(session_id)

    assert reply.status == 422
    assert [each["path"] for each in reply.data["errors"]] == ["session_id"]


@pytest.mark.parametrize("session_id", ["a/b c?d#e", "ключ", "100%", "😀", "x" * 128])
async def test_any_other_id_can_be_addressed(
    recorder: Recorder, session_id: str
) -> None:
    await recorder.start(session_id)

    reply = await recorder.turn(quote(session_id, safe=""), turn("t1"))

    assert (reply.status, reply.data["session_id"]) == (201, session_id)


async def test_who_records_whose_sessions(callers: Callers, ada: Caller) -> None:
    agent = await register_agent(ada)
    bob = await callers.user("bob")
    names = {
        "runtime": await callers.user("machine", "runtime"),
        "superuser": await callers.user("root", "superuser"),
        "auditor": await callers.user("auditor", "auditor"),
        "manager": ada,
        "plain": bob,
    }

    async def start(caller: Caller, agent_id: str, user: Caller) -> int:
        body = {"agent_id": agent_id, "user_id": str(user.user_id)}
        return (await caller.post(SESSION, body)).status

    nowhere = str(ada.user_id)
    found = {
        name: (
            await start(caller, agent, caller),
            await start(caller, agent, bob if caller is not bob else ada),
            await start(caller, nowhere, caller),
        )
        for name, caller in names.items()
    }

    # With themselves, with another user, with an agent that doesn't exist.
    assert found == {
        "runtime": (201, 201, 422),
        "superuser": (201, 201, 422),
        "auditor": (403, 403, 403),
        "manager": (201, 403, 403),
        "plain": (403, 403, 403),
    }


async def test_an_unknown_user_is_refused(recorder: Recorder) -> None:
    reply = await recorder.start("chat-1", user_id=recorder.agent_id)

    assert reply.status == 422
    assert reply.data["errors"] == [{"path": "user_id", "message": "no such user"}]


async def test_a_turn_is_recorded_once(recorder: Recorder) -> None:
    await recorder.start("chat-1")

    first = await recorder.turn("chat-1", turn("t1", input="hello"))
    again = await recorder.turn("chat-1", turn("t1", input="something else"))

    assert (first.status, first.message) == (201, "turn recorded")
    assert first.data == {
        "session_id": "chat-1",
        "turn_id": "t1",
        "turns": 1,
        "version": 2,
    }
    assert (again.status, again.message) == (200, "turn was already recorded")
    assert again.data == first.data
    assert "X-Event-Position" not in again.headers


async def test_turns_are_taken_after_the_end(recorder: Recorder) -> None:
    await recorder.start("chat-1")
    ended = await recorder.end("chat-1", 60)
    again = await recorder.end("chat-1", 90)

    late = await recorder.turn("chat-1", turn("t1", 30))

    assert (ended.status, ended.message) == (200, "session ended")
    assert ended.data["ended_at"] == at(60)
    assert (again.message, again.data) == ("session had already ended", ended.data)
    assert late.status == 201


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"ended_at": at(-1)}, "ended_at"),
        ({"started_at": "2999-01-01T00:00:00Z"}, "started_at"),
        ({"ended_at": "2999-01-01T00:00:00Z"}, "ended_at"),
        ({"prompt_tokens": 5, "cache_read_tokens": 6}, "prompt_tokens"),
        ({"prompt_tokens": -1}, "prompt_tokens"),
        ({"prompt_tokens": 1.5}, "prompt_tokens"),
        ({"model": "a\x01b"}, "model"),
        ({"turn_id": ""}, "turn_id"),
        ({"spoken_by": "ada"}, "spoken_by"),
    ],
)
async def test_a_turn_that_cannot_be_is_refused(
    recorder: Recorder, fields: dict[str, object], path: str
) -> None:
    await recorder.start("chat-1")

    reply = await recorder.turn("chat-1", turn("t1") | fields)

    assert reply.status == 422
    assert path in {each["path"] for each in reply.data["errors"]}


@pytest.mark.parametrize("end", [-1, 10**9])
async def test_a_session_ends_after_its_start_and_not_in_the_future(
    recorder: Recorder, end: int
) -> None:
    await recorder.start("chat-1")

    reply = await recorder.end("chat-1", end)

    assert reply.status == 422


async def test_an_invisible_session_is_404(
    recorder: Recorder, callers: Callers, ada: Caller
) -> None:
    await recorder.start("chat-1")
    stranger = await callers.user("stranger")

    async def answer(caller: Caller, session_id: str) -> tuple[int, int]:
        path = f"{SESSION}/{session_id}"
        return (
            (await caller.post(f"{path}/turns", turn("t1"))).status,
            (await caller.post(f"{path}/end", {})).status,
        )

    assert await answer(stranger, "chat-1") == (404, 404)
    assert await answer(stranger, "none") == (404, 404)
    # It is a session of her agent, but not one of hers.
    assert await answer(ada, "chat-1") == (403, 403)
    assert await answer(recorder.caller, "none") == (404, 404)
