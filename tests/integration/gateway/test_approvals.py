"""Asking a person: bound to one call, used once, and never forever."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from projections.gateway.queries import approvals_seen, overdue_approvals
from service.connection_pool import POOL_SIZE_MAX
from service.gateway.approvals import aggregate as approvals_aggregate
from service.gateway.approvals.expiry import ApprovalExpiry
from service.gateway.gate import Admission, Pending, Refused
from service.resources import Resources
from tests.integration.gateway.world import ASK, DENY, World, refusal, tool
from tests.support.callers import Callers
from tests.support.waiting import until

ARGUMENTS = {"title": "a title that only the approver sees"}


@pytest.fixture
async def asked(world: World) -> World:
    await world.rule(issues_any=ASK)
    return world


async def ask(world: World, arguments: Any = ARGUMENTS) -> Pending:
    answer = await world.call("issues.create", arguments)
    assert isinstance(answer, Pending), answer
    return answer


def path(world: World, pending: Pending) -> str:
    return f"{world.agent}/approvals/{pending.approval_id}"


async def test_a_call_is_made_once_when_it_is_approved(asked: World) -> None:
    pending = await ask(asked)
    assert (await ask(asked)).approval_id == pending.approval_id

    shown = await asked.ada.get(path(asked, pending))
    assert shown.data["arguments"] == ARGUMENTS
    assert shown.data["state"] == "pending"
    approved = await asked.ada.post(
        f"{path(asked, pending)}/approve",
        {"reason": "fine"},
        If_Match=shown.headers["ETag"],
    )

    assert (approved.status, approved.data["state"]) == (200, "approved")
    answer = await asked.call("issues.create", ARGUMENTS)
    assert isinstance(answer, Admission)
    used, admitted = await asked.recorded("tool_call.admitted", "approvals.used")
    assert admitted.event.approval_id == str(pending.approval_id)
    assert used.event.call_id == str(answer.call_id)
    assert admitted.command_id == used.command_id
    assert isinstance(await asked.call("issues.create", ARGUMENTS), Pending)


async def test_another_call_is_not_approved_with_it(asked: World) -> None:
    pending = await ask(asked)
    await asked.decide(pending)

    for name, arguments in (
        ("issues.create", {"title": "another"}),
        ("issues.list", ARGUMENTS),
    ):
        assert isinstance(await asked.call(name, arguments), Pending)
    token = (await asked.ada.post(f"{asked.agent}/tokens", {"label": "x"})).data
    other = await asked.caller(token["token"])
    assert isinstance(
        await asked.call("issues.create", ARGUMENTS, caller=other), Pending
    )


async def test_everything_is_decided_again_when_it_is_used(asked: World) -> None:
    pending = await ask(asked)
    await asked.decide(pending)

    await asked.rule(issues_any=DENY)
    assert refusal(await asked.call("issues.create", ARGUMENTS)) == "denied"
    await asked.rule(issues_any=ASK)
    changed = tool("issues.create", description="something else")
    await asked.lists(changed)
    assert refusal(await asked.call("issues.create", ARGUMENTS)) == (
        "definition_changed"
    )
    await asked.accept("issues.create")
    # Approved was a call of the earlier definition.
    assert isinstance(await asked.call("issues.create", ARGUMENTS), Pending)


async def test_a_refusal_and_a_withdrawal_are_told_as_such(asked: World) -> None:
    pending = await ask(asked)
    refused = await asked.decide(pending, "refuse", reason="not now")
    assert refused.data["state"] == "refused"

    answer = await asked.call("issues.create", ARGUMENTS)

    assert isinstance(answer, Refused)
    assert answer.reason == "approval_refused"
    assert answer.message == "a person refused this call: not now"
    again = await asked.decide(pending)
    assert (again.status, again.code) == (409, "approval_not_pending")

    other = await ask(asked, {"title": "other"})
    await asked.decide(other)
    withdrawn = await asked.decide(other, "withdraw")
    assert withdrawn.data["state"] == "withdrawn"
    withdrawn_answer = await asked.call("issues.create", {"title": "other"})
    assert refusal(withdrawn_answer) == "approval_withdrawn"


async def test_an_expiry_is_told_once_and_then_asked_anew(
    asked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = timedelta(microseconds=1)
    monkeypatch.setattr(approvals_aggregate, "EXPIRES_AFTER", at_once)
    first = await ask(asked)
    late = await asked.decide(first)
    assert (late.status, late.code) == (409, "approval_expired")

    assert refusal(await asked.call("issues.create", ARGUMENTS)) == "approval_expired"

    await ask(asked)
    topics = [each.topic for each in await asked.recorded()]
    assert topics.count("approvals.expired") >= 1
    assert topics.count("approvals.expiry_told") == 1


async def test_an_expiry_is_recorded_without_another_call(
    asked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another process, such as the one after a restart."""
    at_once = timedelta(microseconds=1)
    monkeypatch.setattr(approvals_aggregate, "EXPIRES_AFTER", at_once)
    first = await ask(asked)
    overdue = partial(overdue_approvals, asked.resources.pool)
    other = ApprovalExpiry(asked.resources.log, overdue)

    async def expired() -> list[str]:
        await other.run_once(datetime.now(UTC))
        found = await asked.recorded("approvals.expired")
        return [each.event.approval_id for each in found]

    await until(expired)

    assert await expired() == [str(first.approval_id)]
    inbox = await asked.read("/api/mcp/approvals")
    assert [each["state"] for each in inbox["approvals"]] == ["expired"]
    assert (await asked.ada.get(path(asked, first))).data["arguments"] is None
    # However late the agent calls again, and whatever it asks for meanwhile.
    await ask(asked, {"title": "other"})
    assert refusal(await asked.call("issues.create", ARGUMENTS)) == "approval_expired"
    await ask(asked)


async def test_the_clock_that_decides_on_approvals_lists_them(asked: World) -> None:
    """Whatever the database's says."""
    pending = await ask(asked)
    inbox = await asked.read("/api/mcp/approvals")
    assert [each["state"] for each in inbox["approvals"]] == ["pending"]
    expires_at = datetime.fromisoformat(inbox["approvals"][0]["expires_at"])

    async def listed(at: datetime, state: str | None = None) -> list[tuple[UUID, str]]:
        async with asked.resources.pool.connection() as db:
            found = await approvals_seen(
                db,
                caller=pending.approval_id,
                everything=True,
                at=at,
                limit=9,
                after=None,
                agent_id=None,
                connector_id=None,
                state=state,
            )
        return [(each["id"], each["state"]) for each in found]

    last = expires_at - timedelta(microseconds=1)
    assert await listed(last, "pending") == [(pending.approval_id, "pending")]
    assert await listed(expires_at) == [(pending.approval_id, "expired")]
    assert await listed(expires_at, "pending") == []


async def test_an_agent_has_so_many_pending_approvals(asked: World) -> None:
    for number in range(20):
        await ask(asked, {"number": number})

    answer = await asked.call("issues.create", {"number": 20})

    assert refusal(answer) == "too_many_approvals"
    await ask(asked, {"number": 0})


async def test_who_decides(asked: World, callers: Callers) -> None:
    pending = await ask(asked)
    stranger, auditor = await callers.user("eve"), await callers.user("olga", "auditor")
    agent = callers.with_token(asked.token)

    for caller, status in ((stranger, 404), (auditor, 404), (agent, 401)):
        assert (await caller.get(path(asked, pending))).status == status
        for verb in ("approve", "refuse", "withdraw"):
            reply = await caller.post(f"{path(asked, pending)}/{verb}", {})
            assert reply.status == status
    root = await callers.user("root", "superuser")
    assert (await root.post(f"{path(asked, pending)}/approve", {})).status == 200


async def test_an_approval_is_decided_on_as_it_was_seen(asked: World) -> None:
    pending = await ask(asked)
    seen = (await asked.ada.get(path(asked, pending))).headers["ETag"]
    await asked.decide(pending, "refuse")

    reply = await asked.ada.post(f"{path(asked, pending)}/withdraw", {}, If_Match=seen)

    assert reply.status == 412


async def test_a_held_call_is_told_of_the_decision(asked: World) -> None:
    pending = await ask(asked)
    assert not await asked.gate.wait_for_decision(pending, 0.01)
    waiting = asyncio.create_task(asked.gate.wait_for_decision(pending, 60))

    await asked.decide(pending)

    assert await waiting


async def test_a_held_call_goes_on_while_the_database_is_busy(
    asked: World, resources: Resources
) -> None:
    pending = await ask(asked)
    async with AsyncExitStack() as stack:
        for _ in range(POOL_SIZE_MAX):
            await stack.enter_async_context(resources.pool.connection(60))
        resources.pool.timeout = 0.1
        resources.log.cache.clear()

        assert not await asked.gate.wait_for_decision(pending, 0.01)

        resources.pool.timeout = 60
    await asked.decide(pending)
    assert await asked.gate.wait_for_decision(pending, 60)


async def test_arguments_are_destroyed_when_the_question_is_closed(
    asked: World, resources: Resources
) -> None:
    pending = await ask(asked)
    (requested,) = await asked.recorded("approvals.requested")
    sealed_id = UUID(requested.event.sealed_id)

    async def is_destroyed() -> bool:
        async with resources.pool.connection() as db:
            cursor = await db.execute(
                "SELECT count(*) FROM events.sealed_value WHERE sealed_id = %s",
                [sealed_id],
            )
            row = await cursor.fetchone()
        return row == (0,)

    assert not await is_destroyed()
    done = await asked.decide(pending, "refuse")

    assert done.status == 200
    await until(is_destroyed)


async def test_forty_callers_use_one_approval_once(asked: World) -> None:
    pending = await ask(asked)
    await asked.decide(pending)

    answers = await asyncio.gather(
        *(asked.call("issues.create", ARGUMENTS) for _ in range(40))
    )

    assert sum(isinstance(each, Admission) for each in answers) == 1
    assert len(await asked.recorded("tool_call.admitted")) == 1
