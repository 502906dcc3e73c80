"""The locks of aggregates that commands of one process compete for."""

from uuid import uuid4

import pytest

from service.errors import UnavailableError
from service.event_log.aggregate_locks import AggregateLocks


async def test_a_lock_that_others_hold_for_too_long() -> None:
    aggregate_id = uuid4()
    locks = AggregateLocks(wait_s=0.05)
    async with locks.lock(aggregate_id):
        with pytest.raises(
            UnavailableError, match=r"took more than 0\.05 s"
        ) as refused:
            async with locks.lock(aggregate_id):
                raise AssertionError

        assert locks.is_contended(aggregate_id)
    assert refused.value.code == "overloaded"
    assert not locks.is_contended(aggregate_id)
