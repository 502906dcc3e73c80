"""However superusers demote each other, one remains."""

import asyncio

from service.resources import Resources
from tests.support.callers import Callers
from tests.support.rebuilding import tables

ROUNDS = 20


async def test_two_who_demote_each_other_at_once_leave_one(
    callers: Callers, resources: Resources
) -> None:
    for number in range(ROUNDS):
        ada = await callers.user(f"ada{number}", "superuser")
        bob = await callers.user(f"bob{number}", "superuser")

        replies = await asyncio.gather(
            ada.delete(f"/api/users/{bob.user_id}/roles/superuser"),
            bob.delete(f"/api/users/{ada.user_id}/roles/superuser"),
        )

        assert sorted(reply.status for reply in replies) in ([200, 403], [200, 404])
        held = [
            (await caller.get("/api/users/me")).data["roles"] for caller in (ada, bob)
        ]
        assert sorted(held) == [[], ["superuser"]]
    rows = (await tables(resources, "users"))["user_account"]
    assert sum("superuser" in row for row in rows) == ROUNDS
