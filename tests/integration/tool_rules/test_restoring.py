"""Restoring an agent's rules as of a moment, by appending."""

from uuid import UUID, uuid4

from service.http.as_of import FORM
from tests.support.callers import Caller, Callers, Reply
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting, path, put, rule


async def restore(caller: Caller, agent: UUID, at: object, **headers: str) -> Reply:
    return await caller.post(f"{path(agent)}/restore", {"at": at}, **headers)


async def test_rules_are_what_they_were(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    mail = await setting.connector(ada)
    good = await put(ada, agent, rule(tracker, "a", "allow"), rule(tracker, "b", "ask"))
    await put(ada, agent, rule(tracker, "*", "allow"), rule(mail, "*", "allow"))

    reply = await restore(ada, agent, good.position)

    assert (reply.status, reply.message) == (200, "tool rules restored")
    assert reply.data["rules"] == good.data["rules"]
    assert reply.data["added"] == good.data["rules"]
    assert reply.data["removed"] == sorted(
        [rule(tracker, "*", "allow"), rule(mail, "*", "allow")],
        key=lambda each: each["connector_id"],
    )
    assert (reply.data["position"], reply.data["left_out"]) == (good.position, [])
    assert reply.headers["ETag"] == f'"{reply.data["version"]}"'
    now = await ada.get(path(agent), X_Min_Position=str(reply.position))
    assert now.data["rules"] == good.data["rules"]


async def test_restoring_is_one_more_event(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    good = await put(ada, agent, rule(tracker, "a", "allow"))
    bad = await put(ada, agent, rule(tracker, "a", "deny"))

    reply = await restore(ada, agent, good.position)

    log = setting.resources.log
    (event,) = await read_events(log, after=bad.position, upto=reply.position, limit=9)
    assert (event.topic, event.metadata["actor"]) == (
        "tool_rules.replaced",
        str(ada.user_id),
    )


async def test_restoring_equal_rules_appends_nothing(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    never = await restore(ada, agent, 0)
    written = await put(ada, agent, rule(tracker, "a", "allow"))

    reply = await restore(ada, agent, written.position)

    for each in (never, reply):
        assert (each.status, each.message) == (
            200,
            "agent already had these tool rules",
        )
        assert "X-Event-Position" not in each.headers


async def test_an_empty_restore_leaves_nothing_to_clear_or_to_warn_of(
    setting: Setting, ada: Caller, agent: UUID
) -> None:
    # Not granted: rules on it would be warned of.
    tracker = await setting.connector(ada)
    await put(ada, agent, rule(tracker, "a", "allow"))
    restored = await restore(ada, agent, 0)

    cleared = await put(ada, agent)

    assert (cleared.status, cleared.message) == (
        200,
        "agent already had these tool rules",
    )
    assert "X-Event-Position" not in cleared.headers
    read = await ada.get(path(agent), X_Min_Position=str(restored.position))
    assert (read.data["rules"], read.data["warnings"]) == ([], [])


async def test_a_position_beyond_the_log_is_refused(
    setting: Setting, ada: Caller, agent: UUID
) -> None:
    head = (await setting.resources.log.head()).position

    beyond = await restore(ada, agent, head + 1)

    assert (beyond.status, beyond.message) == (422, f"the log ends at position {head}")
    assert beyond.data["errors"] == [
        {"path": "at", "message": "beyond the end of the log"}
    ]
    assert (await restore(ada, agent, head)).status == 200
    assert (await restore(ada, agent, "2999-01-01")).status == 200


async def test_at_a_time(setting: Setting, root: Caller) -> None:
    agent = await setting.agent(root)
    tracker = await setting.connector(root, granted_to=[agent])
    good = await put(root, agent, rule(tracker, "a", "allow"))
    entry = (await root.get(f"/api/audit/events/{good.position}")).data
    await put(root, agent)

    reply = await restore(root, agent, entry["recorded_at"])

    assert reply.data["rules"] == good.data["rules"]


async def test_connectors_that_have_ended_are_left_out(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    mail = await setting.connector(ada, granted_to=[agent])
    good = await put(ada, agent, rule(tracker, "a", "allow"), rule(mail, "a", "ask"))
    await put(ada, agent)
    await setting.change(mail, lambda connector: connector.retire())

    reply = await restore(ada, agent, good.position)

    assert reply.data["rules"] == [rule(tracker, "a", "allow")]
    assert reply.data["left_out"] == [str(mail)]


async def test_it_takes_full_management(
    callers: Callers,
    setting: Setting,
    ada: Caller,
    owner: Caller,
    root: Caller,
    agent: UUID,
) -> None:
    auditor = await callers.user("auditor", "auditor")
    tracker = await setting.connector(owner, granted_to=[agent])
    good = await put(ada, agent, rule(tracker, "a", "allow"))
    await put(ada, agent)

    for caller in (owner, auditor, await callers.user("stranger")):
        for each in (agent, uuid4()):
            refused = await restore(caller, each, good.position)
            assert refused.status == 403
    assert (await restore(root, uuid4(), good.position)).status == 404
    assert (await restore(root, agent, good.position)).status == 200


async def test_if_match(ada: Caller, agent: UUID, tracker: UUID) -> None:
    good = await put(ada, agent, rule(tracker, "a", "allow"))
    now = await put(ada, agent)

    stale = await restore(ada, agent, good.position, If_Match=good.headers["ETag"])
    fresh = await restore(ada, agent, good.position, If_Match=now.headers["ETag"])

    assert (stale.status, fresh.status) == (412, 200)


async def test_malformed_bodies(ada: Caller, agent: UUID) -> None:
    for at in (None, -1, 2**63, 1.5, 1e300, "never", "7", True, [1]):
        reply = await restore(ada, agent, at)
        assert reply.status == 422, at
        assert reply.data["errors"] == [{"path": "at", "message": FORM}]


async def test_a_position_is_a_number_however_it_is_written(
    ada: Caller, agent: UUID
) -> None:
    reply = await restore(ada, agent, 1.0)

    assert (reply.status, reply.data["position"]) == (200, 1)
