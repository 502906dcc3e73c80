"""Events to rows of the read table, and the same rows from a rebuild."""

from uuid import UUID, uuid4

import pytest

from projections.engine.progress import wait_for_position
from service.resources import Resources
from service.tool_rules.aggregate import ToolRules
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.scenario import Scenario

Row = tuple[UUID, UUID, str, str, int]
ROWS = """
    SELECT agent_id, connector_id, pattern, stance, position
      FROM read.tool_rule
     ORDER BY agent_id, connector_id, pattern
"""
A, B, X, Y = (UUID(int=number) for number in range(1, 5))


pytestmark = pytest.mark.usefixtures("client")


async def rows(resources: Resources) -> list[Row]:
    head = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["tool_rules"], head, timeout_s=60)
    async with resources.pool.connection() as db:
        return await (await db.execute(ROWS)).fetchall()


async def test_replaced_lists_stand_until_the_next_and_others_stay(
    scenario: Scenario, resources: Resources
) -> None:
    rules = ToolRules(agent_id=str(A))
    rules.replace({str(X): {"a": "allow", "b": "ask"}, str(Y): {"*": "deny"}})
    await scenario.given(rules)
    rules.replace({str(X): {"b": "deny"}})
    await scenario.given(rules)

    assert await rows(resources) == [
        (A, X, "b", "deny", 3),
        (A, Y, "*", "deny", 2),
    ]


async def test_clearing_one_agent_leaves_the_others(
    scenario: Scenario, resources: Resources
) -> None:
    rules, others = ToolRules(agent_id=str(A)), ToolRules(agent_id=str(B))
    rules.replace({str(X): {"a": "allow"}})
    others.replace({str(X): {"a": "allow"}})
    await scenario.given(rules, others)
    rules.clear()
    await scenario.given(rules)

    assert await rows(resources) == [(B, X, "a", "allow", 4)]


async def test_one_batch_folds_to_the_same_as_one_event_after_the_other(
    scenario: Scenario, resources: Resources
) -> None:
    rules = ToolRules(agent_id=str(A))
    rules.replace({str(X): {"a": "allow"}, str(Y): {"*": "ask"}})
    rules.clear()
    rules.replace({str(X): {"A": "allow", "a": "ask"}})
    rules.replace({str(Y): {"b": "ask"}})
    rules.replace({str(Y): {"c": "ask"}})
    await scenario.given(rules)

    assert await rows(resources) == [
        (A, X, "A", "allow", 4),
        (A, X, "a", "ask", 4),
        (A, Y, "c", "ask", 6),
    ]


async def test_rebuild_gives_the_same_rows(
    scenario: Scenario, resources: Resources
) -> None:
    connectors = [str(uuid4()) for _ in range(5)]
    for number in range(30):
        rules = ToolRules(agent_id=str(uuid4()))
        for connector in connectors[: number % 5 + 1]:
            rules.replace({connector: {f"tool_{number}": "allow", "*": "ask"}})
            await scenario.given(rules)
        if number % 7 == 3:
            rules.clear()
            await scenario.given(rules)
    assert len(await rows(resources)) > 100

    await expect_rebuild_equals_live(resources, "tool_rules")
