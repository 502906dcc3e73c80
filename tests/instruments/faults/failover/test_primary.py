"""Each fault of the primary once, under load; nothing acknowledged is lost."""

from collections.abc import Collection
from random import Random

import pytest

from tests.instruments.faults.failover.cluster import Cluster
from tests.instruments.faults.failover.faults import FAULTS, Fault, fail_over
from tests.instruments.faults.failover.stage import FailoverStage, set_up
from tests.instruments.faults.run import check, running
from tests.instruments.faults.running_service import Cast
from tests.support.kafka.broker import Broker

pytestmark = [pytest.mark.faults, pytest.mark.timeout(2400)]

PAUSE_S = 0.04


async def fail_over_each(stage: FailoverStage, faults: Collection[Fault]) -> None:
    random = Random(5)
    epoch = stage.epoch()
    async with running(stage, seed=5, pause_s=PAUSE_S) as run:
        for fault in faults:
            await fail_over(run, fault, random)
    with stage.cluster.paused():
        findings = await check(run)

    assert findings == []
    assert run.recoveries.keys() == {fault.__name__ for fault in faults}
    assert stage.epoch() == epoch, "no history was cut"


@pytest.mark.kafka
async def test_fail_overs_keep_each_acknowledged_write_and_message_once(
    cluster: Cluster, frail_broker: Broker
) -> None:
    """Two APIs, two processes of followers, and two relays."""
    cast = Cast(relays=2)
    async with set_up(cluster, cast, broker=frail_broker) as stage:
        await fail_over_each(stage, FAULTS)
