"""Whatever Kafka does, commands are answered as fast as without it."""

import asyncio
import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Self

import pytest

from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import run_relay
from service.resources import Resources
from tests.integration.relay.published import require_equal, until_published
from tests.support.callers import Caller, Callers
from tests.support.kafka.broker import Broker

pytestmark = [pytest.mark.thorough, pytest.mark.kafka, pytest.mark.faults]

COMMANDS = 120
# The relay's own time-out is 3 s here: anything that waits for Kafka takes longer.
MEDIAN_RATIO_MAX = 2.0
P95_RATIO_MAX = 4.0
# At least one must be good: the machine's load may change within each of them.
ROUNDS = 5


async def test_a_broker_that_is_frozen_or_gone_holds_up_no_command(
    resources: Resources,
    callers: Callers,
    frail_broker: Broker,
    frail_kafka: KafkaSettings,
) -> None:
    ada = await callers.user("ada", "superuser")
    made = await ada.post(
        "/api/mcp/connectors",
        {"name": "tracker", "url": "https://tracker.example/mcp", "description": ""},
    )
    grant = f"/api/mcp/connectors/{made.data['id']}/grants/public"
    async with run_relay(resources.log, resources.conninfo, frail_kafka):
        ratios: list[Ratios] = []
        while len(ratios) < ROUNDS and not any(each.are_good for each in ratios):
            await until_published(resources, frail_kafka)
            healthy = await latencies(ada, grant)
            with frail_broker.paused():
                frozen = await latencies(ada, grant)
            await until_published(resources, frail_kafka)
            healthy += await latencies(ada, grant)
            frail_broker.kill()
            gone = await latencies(ada, grant)
            await frail_broker.start_aside()
            ratios.append(Ratios.of(healthy, frozen, gone))
        await until_published(resources, frail_kafka)
    await require_equal(resources, frail_kafka)
    assert any(each.are_good for each in ratios), ratios


@dataclass(frozen=True, slots=True)
class Ratios:
    """How much longer commands took than with a healthy broker, at the worst."""

    median: float
    p95: float

    @classmethod
    def of(cls, healthy: list[float], *harmed: list[float]) -> Self:
        return cls(
            max(median(each) for each in harmed) / median(healthy),
            max(p95(each) for each in harmed) / p95(healthy),
        )

    @property
    def are_good(self) -> bool:
        return self.median < MEDIAN_RATIO_MAX and self.p95 < P95_RATIO_MAX


async def latencies(caller: Caller, grant: str) -> list[float]:
    found = []
    for number in range(COMMANDS):
        began = time.perf_counter()
        method = caller.delete if number % 2 else caller.post
        reply = await method(grant)
        found.append(time.perf_counter() - began)
        assert reply.status in (200, 201)
        await asyncio.sleep(0)
    return found


def p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]
