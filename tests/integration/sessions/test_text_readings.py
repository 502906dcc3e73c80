"""Reading the texts of other users' sessions is on record."""

from typing import Any

import pytest
from cachetools import TTLCache

from service.audit.text_readings import TEXT_READINGS
from service.resources import Resources
from service.sessions.aggregate import ChatSession
from tests.support.callers import Caller, Callers
from tests.support.reading import read_events
from tests.support.sessions.recording import Recorder, turn

SESSION = "/api/observability/session"


async def readings(resources: Resources) -> list[tuple[str, str, dict[str, str]]]:
    head = (await resources.log.head()).position
    events = await read_events(resources.log, after=0, upto=head, limit=1000)
    return [
        (each.metadata["actor"], each.event.operation, each.event.sessions)
        for each in events
        if each.topic == "session_texts.read"
    ]


@pytest.fixture
async def bob(callers: Callers, recorder: Recorder) -> Caller:
    """The user of the session ``chat-1``, which has texts, and of ``chat-2``."""
    bob = await callers.user("bob")
    texts: Any
    for session_id, texts in (("chat-1", {"input": "words"}), ("chat-2", {})):
        await recorder.start(session_id, user_id=str(bob.user_id))
        await recorder.turn(session_id, turn("t1", **texts))
    return bob


def of(user: Caller, *session_ids: str) -> dict[str, str]:
    return {str(ChatSession.create_id(each)): str(user.user_id) for each in session_ids}


async def test_a_manager_who_reads_a_users_session_is_on_record(
    recorder: Recorder, resources: Resources, ada: Caller, bob: Caller
) -> None:
    await recorder.list(by=ada)
    reply = await ada.get(f"{SESSION}/chat-1")

    assert reply.data["turns"][0]["input"] == "words"
    assert await readings(resources) == [
        (str(ada.user_id), "get_session_list", of(bob, "chat-1")),
        (str(ada.user_id), "get_session", of(bob, "chat-1")),
    ]


async def test_a_page_behind_the_last_turn_shows_texts_and_is_on_record(
    recorder: Recorder, resources: Resources, ada: Caller, bob: Caller
) -> None:
    await recorder.list(by=bob)

    reply = await ada.get(f"{SESSION}/chat-1?offset=10")

    assert reply.data["first_input"] == "words"
    assert reply.data["turns"] == []
    assert await readings(resources) == [
        (str(ada.user_id), "get_session", of(bob, "chat-1"))
    ]


async def test_auditors_are_too_and_the_trail_finds_it_by_the_user(
    callers: Callers, recorder: Recorder, resources: Resources, bob: Caller
) -> None:
    auditor = await callers.user("olga", "auditor")

    await recorder.list(by=auditor)

    ((actor, _, sessions),) = await readings(resources)
    assert (actor, sessions) == (str(auditor.user_id), of(bob, "chat-1"))
    head = (await resources.log.head()).position
    page = await auditor.get(
        f"/api/audit/events?kind=session_texts&resource={bob.user_id}",
        X_Min_Position=str(head),
    )
    assert len(page.data["entries"]) == 1
    assert "bob" in page.data["entries"][0]["what"]


async def test_users_read_their_own_sessions_unrecorded(
    recorder: Recorder, resources: Resources, bob: Caller
) -> None:
    await recorder.list(by=bob)
    await bob.get(f"{SESSION}/chat-1")

    assert await readings(resources) == []


async def test_reading_again_is_the_same_entry_for_a_while(
    recorder: Recorder, resources: Resources, ada: Caller, bob: Caller
) -> None:
    now = 0.0
    app = ada.client.app
    assert app is not None
    app[TEXT_READINGS]._recorded = TTLCache(10, 300, timer=lambda: now)  # noqa: SLF001 # with a clock of the test's own
    app[TEXT_READINGS]._pages = TTLCache(10, 300, timer=lambda: now)  # noqa: SLF001 # likewise
    await recorder.list(by=ada)
    await recorder.list(by=ada)
    assert len(await readings(resources)) == 1

    now += 300
    await recorder.list(by=ada)

    assert len(await readings(resources)) == 2


async def test_texts_that_are_erased_are_not_read(
    recorder: Recorder, resources: Resources, ada: Caller, bob: Caller
) -> None:
    reply = await bob.delete(f"/api/users/{bob.user_id}/key")
    seen = {"X_Min_Position": reply.headers["X-Event-Position"]}

    await ada.get(f"{SESSION}/list?start_time=2000-01-01T00:00:00Z", **seen)
    await ada.get(f"{SESSION}/chat-1", **seen)

    assert await readings(resources) == []
