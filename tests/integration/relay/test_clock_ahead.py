"""The clock of a relay's machine is ahead of its broker's."""

from pathlib import Path

import pytest

from projections.relay.kafka.settings import KafkaSettings
from service.resources import Resources
from tests.integration.relay import relay_process
from tests.integration.relay.published import require_equal, until_published
from tests.support.harness.clock import TRUE_TIME, Clock, needs_faketime
from tests.support.relay.writing import register
from tests.support.waiting import until

pytestmark = [pytest.mark.kafka, *needs_faketime]

REASON = "SELECT reason FROM read.position WHERE follower = 'relay'"


async def test_a_broker_that_refuses_times_of_tomorrow_gets_all_when_they_are_right(
    resources: Resources, kafka: KafkaSettings, tmp_path: Path
) -> None:
    clock = Clock(tmp_path, "+86400")
    await register(resources.log, 3)
    relay = relay_process.start(resources, kafka, with_lock=True, words=clock.words)
    try:

        async def reason() -> str | None:
            async with resources.pool.connection() as db:
                row = await (await db.execute(REASON)).fetchone()
            return row[0] if row else None

        refused = await until(reason)
        assert "InvalidTimestampError" in str(refused)

        clock.set(TRUE_TIME)
        await until_published(resources, kafka)
    finally:
        relay.kill()
    await require_equal(resources, kafka)
