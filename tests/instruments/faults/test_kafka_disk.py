"""Kafka's disk is full: events wait in the log, and come when there is room again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from projections.relay.relay import run_relay
from service.resources import Resources
from tests.instruments.faults import disk
from tests.integration.relay.published import require_equal, until_published
from tests.integration.relay.test_chaos import being_written
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic
from tests.support.kafka.jars import MissingError, broker_libs, go_without_broker
from tests.support.waiting import until

MEGABYTES = 200
pytestmark = [pytest.mark.kafka, pytest.mark.faults, pytest.mark.timeout(1200)]


@pytest.fixture
def broker(small: Path, tmp_path: Path) -> Iterator[Broker]:
    """A broker whose data, and nothing else of it, is on a disk that fills up."""
    try:
        libs = broker_libs()
    except MissingError as missing:
        go_without_broker(missing)
    (tmp_path / "data").symlink_to(small)
    broker = Broker(libs, tmp_path)
    broker.format()
    broker.start()
    yield broker
    broker.stop()


async def test_a_full_disk_of_kafka_costs_time_and_nothing_else(
    resources: Resources, broker: Broker, small: Path, tmp_path: Path
) -> None:
    kafka = await new_topic(broker.bootstrap)
    said = tmp_path / "broker.log"
    async with (
        being_written(resources, seed=9, pause_s=0.002),
        run_relay(resources.log, resources.conninfo, kafka),
    ):
        await until_published(resources, kafka)
        with disk.kept_full(small):
            await until(lambda: "No space left on device" in said.read_text())
        # It has given up its only disk, and takes it back only when it starts.
        broker.kill()
        await broker.start_aside()
        await asyncio.sleep(1)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
    records = await require_equal(resources, kafka)
    assert len(records) > 100
