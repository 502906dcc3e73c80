"""The user whom an exporter names: by id or by name, if there is one."""

from uuid import UUID

import pytest

from service.aggregate import LoggedAggregate
from service.resources import Resources
from service.users.aggregate import User
from tests.support.callers import Caller, Callers
from tests.support.sessions.otlp.spans import report, session, span
from tests.support.sessions.recording import Recorder


@pytest.mark.parametrize("named_by", ["id", "name"])
async def test_a_runtime_may_name_the_user(
    recorder: Recorder, callers: Callers, named_by: str
) -> None:
    bob = await callers.user("bob")
    name = "bob" if named_by == "name" else str(bob.user_id)

    taken = await report(recorder, span(1, session__id="chat", user__id=name))

    assert (await session(bob, "chat", [taken]))["user_id"] == str(bob.user_id)


@pytest.mark.parametrize("name", [str(UUID(int=7)), UUID(int=7).hex])
async def test_a_user_s_name_may_look_like_an_id(
    recorder: Recorder, callers: Callers, name: str
) -> None:
    seven = await callers.user(name)

    taken = await report(recorder, span(1, session__id="chat", user__id=name))

    assert (await session(seven, "chat", [taken]))["user_id"] == str(seven.user_id)


async def test_a_user_of_somebody_else_s_is_looked_for_once(
    recorder: Recorder, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[UUID] = []
    load = resources.log.load

    async def counted(aggregate_id: UUID) -> LoggedAggregate | None:
        loaded.append(aggregate_id)
        return await load(aggregate_id)

    monkeypatch.setattr(resources.log, "load", counted)
    roots = [
        span(number, trace=number, session__id="chat", user__id="user-7")
        for number in range(1, 6)
    ]

    taken = await report(recorder, *roots)

    assert taken.status == 200
    assert loaded.count(resources.vault.user_name_id("user-7")) == 1
    assert loaded.count(User.create_id("user-7")) == 1


async def test_a_foreign_user_id_is_replaced_by_the_recorders_own(
    recorder: Recorder, ada: Caller
) -> None:
    taken = await report(recorder, span(1, session__id="chat", user__id="user-7"))

    found = await session(ada, "chat", [taken])
    assert found["user_id"] == str(recorder.caller.user_id)
