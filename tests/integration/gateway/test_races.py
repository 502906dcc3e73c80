"""Revocations against calls: what is acknowledged counts for every later call."""

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest

from service.agent_tokens.caller import Caller
from service.agent_tokens.commands import RevokeAgentToken, revoke_agent_token
from service.aggregates import AGGREGATES
from service.connectors.grant_commands import RevokeGrant, revoke_grant
from service.errors import UnauthenticatedError
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.gateway import tool_gate
from service.gateway.gate import Admission
from service.principal import Principal
from service.resources import Resources
from service.tool_rules.commands import ReplaceToolRules, ToolRule, replace_tool_rules
from service.tool_rules.decision import Stance
from tests.integration.gateway.world import ALLOW, World, refusal

# The promise is stated of 400.
ROUNDS: Final = int(os.environ.get("GATEWAY_RACES", "40"))
CALLERS: Final = 4


def revocations(world: World, caller: Caller) -> list[tuple[Any, Any]]:
    """Return four ways to take a right away: handlers with their commands."""
    deny = ToolRule(world.connector_id, "issues.*", Stance.DENY)
    return [
        (
            revoke_agent_token,
            RevokeAgentToken(agent_id=world.agent_id, token_id=caller.token_id),
        ),
        (
            revoke_grant,
            RevokeGrant(connector_id=world.connector_id, agent_id=world.agent_id),
        ),
        (replace_tool_rules, ReplaceToolRules(agent_id=world.agent_id, rules=[])),
        (replace_tool_rules, ReplaceToolRules(agent_id=world.agent_id, rules=[deny])),
    ]


@pytest.fixture
async def others(resources: Resources) -> AsyncIterator[EventLog]:
    """Another process's log, whose commits this one learns later."""
    log = EventLog(resources.conninfo, AGGREGATES, resources.pool)
    await log.start()
    yield log
    await log.stop()


async def revoke(world: World, others: EventLog, handler: Any, command: Any) -> None:
    assert world.ada.user_id is not None
    ada = Principal(user_id=world.ada.user_id)
    await execute(
        others,
        partial(handler, command),
        metadata=ada.metadata,
        at=datetime.now(UTC),
        principal=ada,
    )


async def call_until_refused(
    world: World, caller: Caller, began: asyncio.Event, revoked: asyncio.Event
) -> tuple[int, int]:
    """Return how many calls were admitted, and how many of them too late."""
    admitted = late = 0
    while True:
        is_late = revoked.is_set()
        try:
            answer = await world.call("issues.list", caller=caller)
        except UnauthenticatedError:
            return admitted, late
        if not isinstance(answer, Admission):
            return admitted, late
        admitted += 1
        late += is_late
        began.set()


async def test_no_call_is_admitted_after_an_acknowledged_revocation(
    world: World, others: EventLog
) -> None:
    admitted = late = 0
    for number in range(ROUNDS):
        token = (await world.ada.post(f"{world.agent}/tokens", {"label": "x"})).data
        caller = await world.caller(token["token"])
        await world.ada.put(world.grant)
        await world.rule(issues_any=ALLOW)
        handler, command = revocations(world, caller)[number % 4]
        began, revoked = asyncio.Event(), asyncio.Event()
        calling = [
            asyncio.create_task(call_until_refused(world, caller, began, revoked))
            for _ in range(CALLERS)
        ]
        await asyncio.wait_for(began.wait(), 60)
        await revoke(world, others, handler, command)
        revoked.set()
        for of_caller in await asyncio.gather(*calling):
            admitted, late = admitted + of_caller[0], late + of_caller[1]
        await world.ada.delete(f"{world.agent}/tokens/{caller.token_id}")

    assert late == 0
    assert admitted >= ROUNDS, "nothing was raced"
    events = await world.recorded("tool_call.admitted")
    assert len(events) == admitted


async def test_a_batched_call_knows_what_is_older_than_it_may_be(
    world: World, others: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No notification, and no poll, has to come in between."""
    monkeypatch.setattr(tool_gate, "BATCHED_AGE_MAX_S", 0.0)
    await world.record_mode("batched")
    command = RevokeGrant(connector_id=world.connector_id, agent_id=world.agent_id)
    await world.rule(issues_any=ALLOW)
    answers = []
    for _ in range(10):
        await world.ada.put(world.grant)
        assert isinstance(await world.call("issues.list"), Admission)
        await revoke(world, others, revoke_grant, command)
        answers.append(refusal(await world.call("issues.list")))

    assert answers == ["connector_not_granted"] * 10
