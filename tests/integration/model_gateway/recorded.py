"""What is on record of an agent's model calls."""

from typing import Any

from tests.integration.model_gateway.stage import Stage
from tests.support.callers import Caller
from tests.support.waiting import until

CALLS = "/api/llm-router/calls"


async def calls_of(
    stage: Stage, number: int = 1, by: Caller | None = None, query: str = ""
) -> list[dict[str, Any]]:
    """Return the agent's calls, latest first, once so many have ended."""
    found: list[dict[str, Any]] = []
    caller = by or stage.ada

    async def have_ended() -> bool:
        reply = await caller.get(f"{CALLS}?agent_id={stage.agent}{query}")
        assert reply.status == 200, reply.data
        found[:] = reply.data["calls"]
        ended = [each for each in found if each["outcome"] != "running"]
        return len(ended) >= number

    await until(have_ended)
    return found
