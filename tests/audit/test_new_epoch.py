"""A new epoch of the log: its Merkle tree starts over."""

from itertools import pairwise

import pytest

from projections.audit.proofs.table import grow_tree
from projections.engine import follower, prefetch, rebuild
from projections.engine.progress import wait_for_position
from service.database import Db
from service.resources import Resources
from tests.audit.tampering import as_owner
from tests.callers import Callers

BATCH = 3


async def test_the_tree_starts_over_in_batches(
    callers: Callers, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One statement over the whole log would exceed the follower's time limit."""
    for number in range(8):
        await callers.user(f"user{number}")
    events = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], events)
    for module, name in (
        (follower, "BATCH_EVENTS_MAX"),
        (prefetch, "BATCH_EVENTS_MAX"),
        (rebuild, "SWITCH_LAG_MAX"),
    ):
        monkeypatch.setattr(module, name, BATCH)
    sizes = [0]

    async def grow(db: Db, *, upto: int) -> None:
        await grow_tree(db, upto=upto)
        sizes.append(upto)

    monkeypatch.setattr("projections.audit.proofs.projector.grow_tree", grow)

    await as_owner(resources, "SELECT events.begin_epoch()")
    await callers.user("after")
    await wait_for_position(resources.pool, ["merkle_tree"], events + 2, timeout_s=60)

    steps = [after - before for before, after in pairwise(sizes)]
    assert sizes[-1] == events + 2
    assert max(steps) <= BATCH
