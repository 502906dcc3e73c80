"""What is on record of an agent's model calls."""

from typing import Any

from service.resources import Resources
from tests.integration.model_gateway.stage import Stage
from tests.support.callers import Caller
from tests.support.reading import read_events
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


async def call_of(stage: Stage) -> dict[str, Any]:
    """Return the agent's only call, once it has ended."""
    (call,) = await calls_of(stage)
    return call


async def events_of(resources: Resources, kind: str = "") -> list[Any]:
    """Return the events of model calls in the log, or those of one kind."""
    found = await read_events(resources.log)
    return [each for each in found if each.topic.startswith(f"model_call.{kind}")]


def asked(call: dict[str, Any]) -> list[tuple[str, int | None]]:
    """Return what came of each target of a call, with the status of its answer."""
    return [(each["outcome"], each["status"]) for each in call["attempts"]]
