"""A user of each kind that the service tells apart, beside the superuser."""

from uuid import UUID

from tests.support.callers import Caller, Callers


async def one_of_each_kind(
    callers: Callers, superuser: Caller, agent_id: str
) -> dict[str, Caller]:
    """Make users with one role or none, and a manager and a reader of the agent."""
    kinds = {
        "stranger": await callers.user("eve"),
        "auditor": await callers.user("olga", "auditor"),
        "runtime": await callers.user("robot", "runtime"),
        "manager": await callers.user("bob"),
        "reader": await callers.user("rob"),
    }
    for name in ("manager", "reader"):
        await _appoint(superuser, agent_id, f"{name}s", kinds[name].user_id)
    return kinds


async def _appoint(
    superuser: Caller, agent_id: str, to: str, user_id: UUID | None
) -> None:
    reply = await superuser.put(f"/api/catalog/agents/{agent_id}/{to}/{user_id}")
    assert reply.status == 200, reply.data
