"""Events to rows of the read table, and the same rows from a rebuild."""

from uuid import UUID

import pytest

from projections.engine.progress import wait_for_position
from service.resources import Resources
from service.tool_rules.aggregate import ToolRules
from tests.support.scenario import Scenario

Row = tuple[UUID, UUID, str, str, int, int | None]
ROWS = """
    SELECT agent_id, connector_id, pattern, stance, since, until
      FROM read.tool_rule
     ORDER BY agent_id, connector_id, pattern, since
"""
A, B, X, Y = (UUID(int=number) for number in range(1, 5))


pytestmark = pytest.mark.usefixtures("client")


async def rows(resources: Resources) -> list[Row]:
    head = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["tool_rules"], head, timeout_s=60)
    async with resources.pool.connection() as db:
        return await (await db.execute(ROWS)).fetchall()


async def test_replaced_rules_end_and_others_stay(
    scenario: Scenario, resources: Resources
) -> None:
    rules = ToolRules(agent_id=str(A))
    rules.replace(
        {str(X): {"a": "allow", "b": "ask", "c": "ask"}, str(Y): {"*": "deny"}}
    )
    await scenario.given(rules)
    rules.replace({str(X): {"b": "deny", "c": "ask"}})
    await scenario.given(rules)

    assert await rows(resources) == [
        (A, X, "a", "allow", 2, 3),
        (A, X, "b", "ask", 2, 3),
        (A, X, "b", "deny", 3, None),
        (A, X, "c", "ask", 2, None),
        (A, Y, "*", "deny", 2, None),
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

    assert await rows(resources) == [
        (A, X, "a", "allow", 2, 5),
        (B, X, "a", "allow", 4, None),
    ]


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
        (A, X, "A", "allow", 4, None),
        (A, X, "a", "allow", 2, 3),
        (A, X, "a", "ask", 4, None),
        (A, Y, "*", "ask", 2, 3),
        (A, Y, "b", "ask", 5, 6),
        (A, Y, "c", "ask", 6, None),
    ]
