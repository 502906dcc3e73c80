"""Holding a topic, as a stock consumer reads it, against the log."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

import orjson

from projections.event_contract import PUBLIC_EVENTS
from projections.relay.kafka.settings import KafkaSettings
from service.event_log.mapper import RecordedEvent
from service.resources import Resources
from tests.support.kafka.reading import Record, published_position, read_all
from tests.support.reading import read_events
from tests.support.waiting import until

EVENTS_MAX = 10_000_000


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """What an event and its message must agree on."""

    position: int
    name: str
    version: int
    data: str


def facts_of_log(events: list[RecordedEvent]) -> list[Fact]:
    facts = []
    for each in events:
        entry = PUBLIC_EVENTS[each.topic]
        data = {name: each.event.__dict__[name] for name in entry.fields}
        facts.append(Fact(each.position, entry.type, each.version, text(data)))
    return facts


def facts_of_topic(records: list[Record]) -> list[Fact]:
    return sorted(
        Fact(
            each.position,
            each.headers["ce_type"].decode(),
            int(each.headers["ce_aggregateversion"]),
            text(orjson.loads(each.value or b"null")),
        )
        for each in records
    )


def text(data: object) -> str:
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()


async def until_published(
    resources: Resources, kafka: KafkaSettings, *, timeout_s: float = 60
) -> None:
    """Wait until Kafka says that all of the log is on the topic."""
    head = (await resources.log.head()).position

    async def is_published() -> bool:
        return await asyncio.to_thread(reached, kafka) >= head

    await until(is_published, timeout_s=timeout_s)


def reached(kafka: KafkaSettings) -> int:
    return published_position(kafka.bootstrap, kafka.position_topic)


async def require_equal(resources: Resources, kafka: KafkaSettings) -> list[Record]:
    """The topic has every event once, and each partition in the log's order."""
    records = await asyncio.to_thread(read_all, kafka.bootstrap, kafka.topic)
    assert facts_of_topic(records) == facts_of_log(
        await read_events(resources.log, limit=EVENTS_MAX)
    )
    positions = defaultdict(list)
    versions = defaultdict(list)
    partitions = defaultdict(set)
    for each in records:
        positions[each.partition].append(each.position)
        versions[each.key].append(int(each.headers["ce_aggregateversion"]))
        partitions[each.key].add(each.partition)
    assert all(each == sorted(each) for each in positions.values())
    assert all(each == [*range(1, len(each) + 1)] for each in versions.values())
    assert all(len(each) == 1 for each in partitions.values())
    return records
