"""Processes are killed while they call: nothing runs unrecorded, or approved twice."""

import asyncio
import contextlib
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Final
from uuid import UUID

from service.gateway.gate import Pending
from tests.integration.gateway.calling import APPROVED
from tests.integration.gateway.world import ALLOW, ASK, World

ROUNDS: Final = int(os.environ.get("GATEWAY_KILLS", "2"))
PROCESSES: Final = 2
# After so many calls, each process is killed.
CALLS: Final = 40


async def approve_all(world: World) -> None:
    """Let each of the questionable calls be made once."""
    for number in range(APPROVED):
        answer = await world.call("issues.create", {"n": number})
        if isinstance(answer, Pending):
            await world.decide(answer)


async def forwarded_until_killed(world: World, data_dir: Path) -> list[UUID]:
    """Run a process, kill it after some calls, and return what it forwarded."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.integration.gateway.calling",
        world.resources.database_url,
        str(data_dir),
        str(world.agent_id),
        str(world.token_id),
        str(world.connector_id),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    lines = [await process.stdout.readline() for _ in range(CALLS)]
    process.kill()
    lines += (await process.stdout.read()).splitlines()
    await process.wait()
    forwarded = []
    for line in lines:
        # The last line may be cut.
        with contextlib.suppress(ValueError):
            forwarded.append(UUID(line.decode().strip()))
    assert len(forwarded) >= CALLS, "the process could not call"
    return forwarded


async def test_killed_processes_forward_each_recorded_call_at_most_once(
    world: World, tmp_path: Path
) -> None:
    await world.rule(issues_list=ALLOW, issues_create=ASK)
    forwarded: list[UUID] = []
    for _ in range(ROUNDS):
        await approve_all(world)
        for each in await asyncio.gather(
            *(forwarded_until_killed(world, tmp_path) for _ in range(PROCESSES))
        ):
            forwarded += each

    admitted = {e.aggregate_id for e in await world.recorded("tool_call.admitted")}
    assert set(forwarded) <= admitted
    assert len(set(forwarded)) == len(forwarded)
    of_approvals = await world.recorded("approvals.approved", "approvals.used")
    approved, used = Counter[str](), Counter[str]()
    for each in of_approvals:
        counted = approved if each.topic == "approvals.approved" else used
        counted[each.event.approval_id] += 1
        assert used[each.event.approval_id] <= approved[each.event.approval_id]
    assert used.total() >= APPROVED, "no approval was raced for"
