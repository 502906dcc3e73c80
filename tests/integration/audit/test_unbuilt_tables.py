"""Explanations and audit reads while the tables they need are built again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web
from psycopg import AsyncConnection

from projections.engine import follower
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.resources import Resources
from service.waits import Waits
from tests.integration.event_log.test_epoch import restore
from tests.support.audit.tampering import as_owner
from tests.support.callers import Caller
from tests.support.tool_rules.setting import Setting, put, rule
from tests.support.waiting import until

FOLLOWERS = ("tool_rules", "connectors", "agents")
WAIT_S = 0.3


@pytest.fixture
def app(resources: Resources) -> web.Application:
    return create_app(replace(resources, waits=Waits(position_s=WAIT_S)))


@pytest.fixture
def no_rebuild(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebuilds begin, and don't end."""

    async def rebuild(*_: Any) -> int:
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(follower, "rebuild", rebuild)


async def applied(resources: Resources) -> int:
    head = (await resources.log.head()).position
    await wait_for_position(resources.pool, FOLLOWERS, head, timeout_s=60)
    return head


def reads(agent: UUID, connector: UUID) -> Sequence[str]:
    return (
        f"/api/mcp/agents/{agent}/tools/explain?connector_id={connector}&tool=a",
        f"/api/audit/connectors/{connector}/exposure?since=0",
        f"/api/audit/agents/{agent}/decisions/difference?since=0",
    )


async def test_tables_of_the_version_before_are_not_built_yet(
    root: Caller, setting: Setting, resources: Resources
) -> None:
    agent = await setting.agent(root)
    connector = await setting.connector(root, granted_to=[agent])
    await put(root, agent, rule(connector, "a", "allow"))
    await applied(resources)
    await as_owner(
        resources,
        "DROP TABLE read.tool_rules_change, read.holding, read.tool_definition",
        "ALTER TABLE read.tool_rule DROP COLUMN until",
    )

    for each in reads(agent, connector):
        refused = await root.get(each)

        assert (refused.status, refused.code) == (503, "not_built_yet"), each
        assert refused.headers["Retry-After"] == "1"


@pytest.mark.usefixtures("no_rebuild")
async def test_tables_of_another_log_answer_nothing(
    root: Caller, setting: Setting, resources: Resources, database_url: str
) -> None:
    agent, connector = await setting.agent(root), await setting.connector(root)
    before = await applied(resources)
    await setting.change(
        connector,
        lambda it: it.consent_to_grant(agent, by_connector=True, by_agent=True),
    )
    await put(root, agent, rule(connector, "a", "allow"))
    behind, epoch = await applied(resources), resources.log.epoch
    async with await AsyncConnection.connect(database_url, autocommit=True) as owner:
        await restore(owner, before)
    await until(lambda: resources.log.epoch != epoch)
    # Where the former log has grants and rules, this one has other events.
    while (await resources.log.head()).position < behind:
        await setting.agent(root)

    for each in reads(agent, connector):
        refused = await root.get(each)

        assert (refused.status, refused.code) == (503, "position_not_reached"), each
