"""The consumer's kit, on topics that a relay wrote."""

import asyncio
import contextlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from confluent_kafka import TopicPartition as Deletion
from confluent_kafka.admin import AdminClient
from psycopg import AsyncConnection

from agent_runtime_client.kafka import Event, StoredPosition, consume
from agent_runtime_client.kafka.errors import (
    AlreadyProcessedError,
    MissingEventError,
)
from agent_runtime_client.kafka.event_types import ConnectorRegisteredV1
from agent_runtime_client.kafka.positions import (
    create_table,
    read_positions,
    store_position,
)
from agent_runtime_client.kafka.topic_end import Record
from agent_runtime_client.kafka.versions import Versions
from docs.examples.public_connectors import (
    CONSUMER,
    TABLE,
    apply,
    apply_all,
    follow,
)
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import run_relay
from service.connectors.aggregate import Connector
from service.resources import Resources
from tests.integration.relay.consuming import (
    first,
    iterating,
    last_positions,
    publish_some,
)
from tests.integration.relay.published import until_published
from tests.support.project import ROOT
from tests.support.relay.writing import register, toggle, write_on

pytestmark = pytest.mark.kafka


async def test_events_come_typed_and_each_aggregates_in_order(
    resources: Resources, kafka: KafkaSettings
) -> None:
    head = await publish_some(resources, kafka)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        found = await first(events, head)
    assert sorted(event.position for event in found) == list(range(1, head + 1))
    registered = [
        each for each in found if isinstance(each.data, ConnectorRegisteredV1)
    ]
    assert {each.data.name for each in registered} == {
        f"connector {number}" for number in range(5)
    }
    assert {each.name for each in registered} == {"connector.registered.v1"}


@pytest.mark.parametrize("with_offsets", [True, False])
async def test_reading_continues_at_any_position(
    resources: Resources, kafka: KafkaSettings, *, with_offsets: bool
) -> None:
    head = await publish_some(resources, kafka)
    seen: list[Event] = []
    for count in (1, 6, 2, head - 9):
        positions = last_positions(seen)
        if not with_offsets:
            positions = [replace(each, offset=None) for each in positions]
        async with consume(kafka.bootstrap, kafka.topic, positions) as events:
            seen += await first(events, count)
    assert sorted(event.position for event in seen) == list(range(1, head + 1))


async def test_a_position_can_be_waited_for(
    resources: Resources, kafka: KafkaSettings
) -> None:
    [connector_id, *_] = await register(resources.log, 3)
    async with (
        run_relay(resources.log, resources.conninfo, kafka),
        consume(kafka.bootstrap, kafka.topic) as events,
        iterating(events),
    ):
        for _ in range(5):
            position = await toggle(resources.log, connector_id)
            await events.wait_for(position, timeout_s=60)
            assert max(events._done.values()) >= position  # noqa: SLF001 # what it has delivered
        with pytest.raises(TimeoutError):
            await events.wait_for(position + 1, timeout_s=0.1)


@pytest.mark.thorough
async def test_events_that_retention_deleted_are_not_waited_for(
    resources: Resources, kafka: KafkaSettings
) -> None:
    head = await publish_some(resources, kafka)
    everything = [Deletion(kafka.topic, each, -1) for each in range(kafka.partitions)]
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for deleted in admin.delete_records(everything).values():
        deleted.result(60)

    async with consume(kafka.bootstrap, kafka.topic) as events, iterating(events):
        await events.wait_for(head, timeout_s=60)


class WatchedConsumer(AIOKafkaConsumer):
    """Notes what waits while an assigned partition has no offset yet.

    It would be looked up in the background, and not finding one would fail a fetch.
    """

    def __init__(self, *topics: str, **options: Any) -> None:
        super().__init__(*topics, **options)
        self.without_offset: set[TopicPartition] = set()
        self.waited_without: list[str] = []

    def assign(self, partitions: list[TopicPartition]) -> None:
        super().assign(partitions)
        self.without_offset = set(partitions)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        super().seek(partition, offset)
        self.without_offset.discard(partition)

    async def end_offsets(
        self, partitions: list[TopicPartition]
    ) -> dict[TopicPartition, int]:
        self._note("end_offsets")
        return dict(await super().end_offsets(partitions))

    async def getmany(
        self, *partitions: TopicPartition, **options: Any
    ) -> dict[TopicPartition, list[Record]]:
        self._note("getmany")
        return dict(await super().getmany(*partitions, **options))

    def _note(self, waiting: str) -> None:
        if self.without_offset:
            self.waited_without.append(waiting)


@pytest.mark.parametrize("with_positions", [True, False])
@pytest.mark.thorough
async def test_every_partition_has_an_offset(
    resources: Resources,
    kafka: KafkaSettings,
    monkeypatch: pytest.MonkeyPatch,
    *,
    with_positions: bool,
) -> None:
    head = await publish_some(resources, kafka)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        *_, last = await first(events, head)
    toggled = await register(resources.log, 1)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
    monkeypatch.setattr(
        "agent_runtime_client.kafka.topic.AIOKafkaConsumer", WatchedConsumer
    )

    positions = [last.stored] if with_positions else []
    async with consume(kafka.bootstrap, kafka.topic, positions) as events:
        assert await first(events, len(toggled))

    watched = events._kafka  # noqa: SLF001 # the one that was made
    assert isinstance(watched, WatchedConsumer)
    assert watched.waited_without == []


def test_old_versions_are_forgotten() -> None:
    versions = Versions(whole=True, remembered=2)
    for aggregate_id in "abc":
        versions.follow(event(aggregate_id, 1))
    versions.follow(event("a", 5))
    with pytest.raises(MissingEventError):
        versions.follow(event("c", 3))


def event(aggregate_id: str, version: int) -> Event:
    made = object.__new__(Event)
    for name, value in {
        "aggregate_id": aggregate_id,
        "aggregate_version": version,
        "position": version,
    }.items():
        object.__setattr__(made, name, value)
    return made


async def test_a_position_can_be_stored_once(database_url: str) -> None:
    async with await AsyncConnection.connect(database_url, autocommit=True) as db:
        await create_table(db)
        stored = StoredPosition(partition=2, position=10, offset=12, event_id="e")
        await store_position(db, "mine", stored)
        await store_position(db, "yours", stored)
        with pytest.raises(AlreadyProcessedError):
            await store_position(db, "mine", stored)
        assert await read_positions(db, "mine") == [stored]


@pytest.mark.thorough
async def test_the_example_keeps_its_table_right_wherever_it_is_stopped(
    resources: Resources, kafka: KafkaSettings, database_url: str
) -> None:
    random = Random(7)  # noqa: S311
    connectors = await register(resources.log, 8)
    async with (
        await AsyncConnection.connect(database_url, autocommit=True) as db,
        run_relay(resources.log, resources.conninfo, kafka),
    ):
        await db.execute("CREATE SCHEMA mine; SET search_path = mine")
        writing = asyncio.create_task(
            write_on(resources.log, connectors, random, pause_s=0.01)
        )
        for _ in range(6):
            await run_for(random.uniform(0.1, 0.5), kafka, db)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        expected = {
            connector_id: (await loaded(resources, connector_id)).is_public
            for connector_id in connectors
        }
        # On a busy machine a consumer needs longer before it has read anything.
        seconds = 0.3
        async with asyncio.timeout(600):
            while await table(db) != expected:
                await run_for(seconds, kafka, db)
                seconds *= 1.5


async def test_the_documented_consumer_runs_as_it_stands(
    resources: Resources, kafka: KafkaSettings, database_url: str, tmp_path: Path
) -> None:
    [connector_id, *_] = await register(resources.log, 3)
    await toggle(resources.log, connector_id)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
    page = (ROOT / "docs/kafka.md").read_text("utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert script.count('"agent-runtime.events"') == 1
    # It stores its position before the effect.
    assert script.index("await store_position") < script.index("# the effect")
    file = tmp_path / "mine.py"
    file.write_text(script.replace("agent-runtime.events", kafka.topic))

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(file), kafka.bootstrap, database_url),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line.decode().strip() == str(connector_id)
    finally:
        process.kill()
        await process.wait()


async def test_a_second_instance_is_refused_before_it_has_an_effect(
    resources: Resources, kafka: KafkaSettings, database_url: str
) -> None:
    head = await publish_some(resources, kafka)
    async with (
        await AsyncConnection.connect(database_url, autocommit=True) as first_db,
        await AsyncConnection.connect(database_url, autocommit=True) as second_db,
    ):
        await first_db.execute(TABLE)
        await create_table(first_db)
        async with consume(kafka.bootstrap, kafka.topic) as events:
            for event in await first(events, head):
                async with first_db.transaction():
                    await store_position(first_db, CONSUMER, event.stored)
                    await apply(event, first_db)

        async with consume(kafka.bootstrap, kafka.topic) as events:
            with pytest.raises(AlreadyProcessedError):
                await apply_all(events, second_db)


async def loaded(resources: Resources, connector_id: UUID) -> Connector:
    connector = await resources.log.load(connector_id)
    assert isinstance(connector, Connector)
    return connector


async def table(db: AsyncConnection) -> dict[UUID, bool]:
    rows = await db.execute("SELECT id, is_public FROM connector")
    return dict(await rows.fetchall())


async def run_for(seconds: float, kafka: KafkaSettings, db: AsyncConnection) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await follow(kafka.bootstrap, kafka.topic, db)
