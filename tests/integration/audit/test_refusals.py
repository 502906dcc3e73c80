"""Refused changes can be put to a person: in the trail, and in the log lines."""

import logging
from typing import Any, cast
from uuid import uuid4

import pytest

from service.audit import refusal_recorder
from service.audit.refusal_recorder import RefusalRecorder
from service.errors import UnavailableError
from service.http.refusals import REFUSALS
from service.logs import FieldsRecord
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.metrics import counted
from tests.support.reading import read_events
from tests.support.waiting import until


async def refused(caller: Caller, path: str) -> None:
    assert (await caller.delete(path)).status == 403


async def tracker_of(owner: Caller) -> str:
    """Register a public connector: everyone sees it, only its owner retires it."""
    made = await owner.post(
        "/api/mcp/connectors", {"name": "Tracker", "url": "https://tracker.example"}
    )
    path = f"/api/mcp/connectors/{made.data['id']}"
    await owner.post(f"{path}/grants/public")
    return path


async def recorded(resources: Resources) -> list[tuple[str, str, int]]:
    events = await read_events(resources.log, topics=["refusal.recorded"])
    return [
        (each.metadata["actor"], each.event.path, each.event.times) for each in events
    ]


def recorder_of(callers: Callers) -> RefusalRecorder:
    app: Any = callers.anonymous().client.app
    return cast(RefusalRecorder, app[REFUSALS])


async def test_a_refused_change_is_in_the_trail(callers: Callers) -> None:
    auditor, ada = await callers.user("olga", "auditor"), await callers.user("ada")
    eve = await callers.user("eve")
    path = await tracker_of(ada)

    await refused(eve, path)

    connector_id = path.rpartition("/")[2]
    page = await auditor.get("/api/audit/events?kind=refusal")
    while not page.data["entries"]:
        page = await auditor.get("/api/audit/events?kind=refusal")
    (entry,) = page.data["entries"]
    assert (entry["actor"], entry["actor_id"]) == ("eve", str(eve.user_id))
    assert entry["what"] == f"was refused DELETE {path}, once (forbidden)"
    found = await auditor.get(f"/api/audit/events?resource={connector_id}&kind=refusal")
    assert found.data["entries"] == [entry]


@pytest.mark.parametrize("form", ["capitals", "digits alone", "urn"])
async def test_it_is_found_however_the_id_was_spelled(
    callers: Callers, form: str
) -> None:
    auditor, ada = await callers.user("olga", "auditor"), await callers.user("ada")
    eve = await callers.user("eve")
    connector_id = (await tracker_of(ada)).rpartition("/")[2]
    spelled = {
        "capitals": connector_id.upper(),
        "digits alone": connector_id.replace("-", ""),
        "urn": f"urn:uuid:{connector_id.upper()}",
    }[form]

    await refused(eve, f"/api/mcp/connectors/{spelled}")
    read = await auditor.get(f"/api/audit/aggregates/{spelled}")

    assert read.status == 200
    await until_listed(auditor, connector_id, "was refused DELETE")
    await until_listed(auditor, connector_id, "read the recorded state")


async def until_listed(auditor: Caller, resource_id: str, what: str) -> None:
    async def is_listed() -> bool:
        page = await auditor.get(f"/api/audit/events?resource={resource_id}&limit=200")
        return any(each["what"].startswith(what) for each in page.data["entries"])

    await until(is_listed)


async def test_refused_reads_and_missing_things_are_no_refused_changes(
    callers: Callers, resources: Resources
) -> None:
    eve = await callers.user("eve")

    assert (await eve.get("/api/audit/events")).status == 403
    assert (await eve.delete(f"/api/mcp/connectors/{uuid4()}")).status == 404

    assert await recorded(resources) == []


async def test_a_flood_is_two_events(callers: Callers, resources: Resources) -> None:
    ada, eve = await callers.user("ada"), await callers.user("eve")
    first, second = await tracker_of(ada), await tracker_of(ada)
    for _ in range(9):
        await refused(eve, first)
    await refused(eve, second)

    assert await recorded(resources) == [(str(eve.user_id), first, 1)]
    await recorder_of(callers).flush(all_of_them=True)

    assert await recorded(resources) == [
        (str(eve.user_id), first, 1),
        (str(eve.user_id), second, 9),
    ]


async def test_each_user_and_operation_is_folded_by_itself(
    callers: Callers, resources: Resources
) -> None:
    ada, eve, bob = [await callers.user(name) for name in ("ada", "eve", "bob")]
    path = await tracker_of(ada)
    for caller in (eve, bob):
        await refused(caller, path)
        await refused(caller, f"{path}/grants/public")

    assert len(await recorded(resources)) == 4


async def test_folded_refusals_are_recorded_when_their_minute_is_over(
    callers: Callers, resources: Resources
) -> None:
    ada, eve = await callers.user("ada"), await callers.user("eve")
    path = await tracker_of(ada)
    now = 1000.0
    recorder = RefusalRecorder(resources.log, clock=lambda: now)
    app: Any = callers.anonymous().client.app
    app._state[REFUSALS] = recorder  # noqa: SLF001 # with a clock of the test's own
    for _ in range(3):
        await refused(eve, path)

    now += refusal_recorder.FOLDED_FOR_S - 1
    await recorder.flush()
    assert [times for _, _, times in await recorded(resources)] == [1]
    now += 1
    await recorder.flush()
    assert [times for _, _, times in await recorded(resources)] == [1, 2]

    now += refusal_recorder.FOLDED_FOR_S
    await recorder.flush()
    await refused(eve, path)
    assert [times for _, _, times in await recorded(resources)] == [1, 2, 1]


async def test_what_can_not_be_recorded_is_refused_and_recorded_later(
    callers: Callers, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, eve = await callers.user("ada"), await callers.user("eve")
    path = await tracker_of(ada)

    async def fail(*_: object, **__: object) -> None:
        raise UnavailableError("the database can't be reached")

    with monkeypatch.context() as broken:
        broken.setattr("service.audit.refusal_recorder.execute", fail)
        await refused(eve, path)
    assert await recorded(resources) == []

    await recorder_of(callers).flush(all_of_them=True)

    assert await recorded(resources) == [(str(eve.user_id), path, 1)]


async def test_callers_beyond_the_bound_are_counted(
    callers: Callers, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusal_recorder, "CALLERS_MAX", 1)
    ada, eve, bob = [await callers.user(name) for name in ("ada", "eve", "bob")]
    path = await tracker_of(ada)
    before = counted(refusal_recorder.UNRECORDED)

    await refused(eve, path)
    await refused(bob, path)

    assert await recorded(resources) == [(str(eve.user_id), path, 1)]
    assert counted(refusal_recorder.UNRECORDED) == before + 1


async def test_log_lines_name_the_caller_and_the_address(
    callers: Callers, caplog: pytest.LogCaptureFixture
) -> None:
    ada = await callers.user("ada")
    caplog.set_level(logging.INFO, "agent_runtime.request")

    await ada.get("/api/users/me")
    await ada.get("/api/audit/events")
    await callers.anonymous().get("/api/users/me")

    lines = [each.fields for each in caplog.records if isinstance(each, FieldsRecord)]
    assert [(line["status"], line["actor"]) for line in lines] == [
        (200, str(ada.user_id)),
        (403, str(ada.user_id)),
        (401, None),
    ]
    assert {line["address"] for line in lines} == {"127.0.0.1"}
