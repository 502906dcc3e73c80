"""What a reader of an agent may do over HTTP."""

from uuid import UUID

from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import path, put, rule


async def test_a_reader_reads_rules_and_decisions_and_changes_nothing(
    callers: Callers, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    robot = await callers.user("robot", "runtime")
    await put(ada, agent, rule(tracker, "issues.*", "allow"))
    reader = f"/api/catalog/agents/{agent}/readers/{robot.user_id}"
    explain = f"{path(agent)}/explain?connector_id={tracker}&tool=issues.list"
    assert (await robot.get(path(agent))).status == 404

    appointed = await ada.put(reader)
    seen = {"X_Min_Position": appointed.headers["X-Event-Position"]}

    assert (appointed.status, appointed.message) == (200, "reader appointed")
    assert appointed.data["reader_ids"] == [str(robot.user_id)]
    listed = await robot.get("/api/catalog/agents", **seen)
    assert [each["id"] for each in listed.data["agents"]] == [str(agent)]
    assert (await robot.get(path(agent), **seen)).data["rules"] != []
    assert (await robot.get(explain, **seen)).data["stance"] == "allow"
    refused = await put(robot, agent, rule(tracker, "*", "allow"))
    assert refused.status == 403
    assert (await robot.put(reader)).status == 403

    dismissed = await ada.delete(reader)
    seen = {"X_Min_Position": dismissed.headers["X-Event-Position"]}
    assert (await robot.get(path(agent), **seen)).status == 404
    assert (await robot.get(explain, **seen)).status == 404
