"""Relays and the broker are killed and frozen while the log is written.

The long form: KAFKA_CHAOS_KILLS=100 pytest -m faults
tests/integration/relay/test_chaos.py
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from projections.relay import relay_position
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.metrics import FAILURES
from projections.relay.relay import MakePublisher, Relay, run_relay
from service.resources import Resources
from tests.integration.kafka.test_fencing import FencesFirst, ReadsFirst
from tests.integration.relay import relay_process
from tests.integration.relay.published import require_equal, until_published
from tests.support.kafka.broker import Broker
from tests.support.kafka.reading import positions
from tests.support.metrics import counted
from tests.support.relay.writing import register, write_on
from tests.support.waiting import until

KILLS = int(os.environ.get("KAFKA_CHAOS_KILLS", "10"))
FENCINGS = 10
EVENTS = KILLS * 50
# Fencing and doubles are matters of chance.
CHANCES_S = 600.0
pytestmark = [
    pytest.mark.kafka,
    pytest.mark.faults,
    pytest.mark.timeout(1200),
]


@asynccontextmanager
async def being_written(
    resources: Resources, *, seed: int, pause_s: float
) -> AsyncIterator[None]:
    """Write all the while, and check that no command was refused or held up."""
    connectors = await register(resources.log, 20)
    writing = asyncio.create_task(
        write_on(resources.log, connectors, Random(seed), pause_s=pause_s)  # noqa: S311
    )
    try:
        yield
        assert not writing.done()
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def test_killed_relays_and_brokers_leave_every_event_once_and_in_order(
    resources: Resources, frail_broker: Broker, frail_kafka: KafkaSettings
) -> None:
    random = Random(KILLS)  # noqa: S311
    relays = [relay_process.start(resources, frail_kafka, with_lock=False)]
    try:
        async with being_written(resources, seed=KILLS, pause_s=0.005):
            for number in range(KILLS):
                relays.append(
                    # Now they fence each other, now they take turns.
                    relay_process.start(
                        resources, frail_kafka, with_lock=bool(number % 2)
                    )
                )
                await asyncio.sleep(random.uniform(0.5, 2.5))
                if number % 4 == 3:
                    await harm(frail_broker, random)
                victim = relays.pop(random.randrange(len(relays)))
                victim.kill()
            await until(lambda: has_events(resources, EVENTS), timeout_s=CHANCES_S)
    finally:
        for each in relays:
            each.kill()
    async with run_relay(resources.log, resources.conninfo, frail_kafka):
        await until_published(resources, frail_kafka)
    records = await require_equal(resources, frail_kafka)
    assert len(records) >= EVENTS


async def has_events(resources: Resources, count: int) -> bool:
    return (await resources.log.head()).position >= count


async def harm(broker: Broker, random: Random) -> None:
    if random.random() < 0.5:
        broker.kill()
        await broker.start_aside()
    else:
        with broker.paused():
            await asyncio.sleep(random.uniform(0.5, 4))


@pytest.mark.parametrize("order", [FencesFirst, ReadsFirst])
async def test_only_rival_relays_that_read_before_fencing_double_messages(
    resources: Resources,
    kafka: KafkaSettings,
    monkeypatch: pytest.MonkeyPatch,
    order: type[FencesFirst],
) -> None:
    """The wrong order is the proof that this test could find anything.

    It is given the time that it needs to do harm, as that depends on chance.
    """
    monkeypatch.setattr(relay_position, "is_leader", relay_process.nobody_else)
    fenced = FAILURES.labels("FencedError")
    before = counted(fenced)
    async with (
        being_written(resources, seed=1, pause_s=0.002),
        rivals(resources, kafka, make_publisher(order)),
    ):
        await until(lambda: counted(fenced) - before >= FENCINGS, timeout_s=CHANCES_S)
        if order is ReadsFirst:
            await until(lambda: has_doubles(kafka), timeout_s=CHANCES_S)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
    if order is FencesFirst:
        await require_equal(resources, kafka)
        return
    assert await has_doubles(kafka)


async def has_doubles(kafka: KafkaSettings) -> bool:
    found = await asyncio.to_thread(positions, kafka.bootstrap, kafka.topic)
    return len(found) > len(set(found))


def make_publisher(order: type[FencesFirst]) -> MakePublisher:
    class Slow(order):  # type: ignore[misc, valid-type]
        async def gap(self) -> None:
            await asyncio.sleep(0.05)

    return Slow


@asynccontextmanager
async def rivals(
    resources: Resources, kafka: KafkaSettings, make: MakePublisher
) -> AsyncIterator[None]:
    running = [
        asyncio.create_task(
            Relay(resources.log, resources.conninfo, kafka, make_publisher=make).run()
        )
        for _ in range(2)
    ]
    try:
        yield
        assert not any(task.done() for task in running)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
