"""The event topic from the command line: create, check, tail, republish."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
from psycopg import AsyncConnection

from projections.relay import relay_position
from projections.relay.consumer.consumer import consume
from projections.relay.consumer.event import Event, Place
from projections.relay.kafka.errors import PublishError, TopicRefusedError
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_admin import check_topics, create_topics
from projections.relay.kafka.topic_reader import read_contents
from projections.relay.kafka.topic_state import verify_topic
from projections.relay.kafka_settings import kafka_settings
from projections.relay.republish import republish
from service.aggregates import AGGREGATES
from service.config import Config
from service.database import service_conninfo
from service.event_log.mapper import EventMapper

Command = Callable[[KafkaSettings, str, argparse.Namespace], Awaitable[int]]


async def run_topic_command(
    config: Config, database_url: str, options: argparse.Namespace
) -> int:
    """Run one of the commands and return the exit status."""
    try:
        command = COMMANDS[options.topic_command]
        return await command(kafka_settings(config), database_url, options)
    except (TopicRefusedError, PublishError) as error:
        print(f"agent-runtime: {error}", file=sys.stderr)
        return 1


async def _create(settings: KafkaSettings, _url: str, _: argparse.Namespace) -> int:
    created = await create_topics(settings)
    for topic in created:
        print(f"created topic {topic}")
    if not created:
        print("nothing to do")
    return _report((await check_topics(settings)).problems)


async def _check(settings: KafkaSettings, url: str, _: argparse.Namespace) -> int:
    check = await check_topics(settings)
    if check.contents is not None:
        async with await AsyncConnection.connect(
            service_conninfo(url), autocommit=True
        ) as db:
            log_id, epoch, head = await relay_position.log_head(db)
        identity = LogIdentity(log_id=str(log_id), log_epoch=str(epoch), relay_id="")
        published = verify_topic(check.contents, identity, remembered=0)
        print(f"topic {settings.topic}: published up to position {published.position}")
        print(f"the log ends at position {head}")
    return _report(check.problems)


async def _tail(settings: KafkaSettings, _: str, options: argparse.Namespace) -> int:
    places = [] if options.from_beginning else await _ends(settings)
    left: int = options.count
    async with consume(settings, places) as events:
        async for event in events:
            await asyncio.to_thread(_print_event, event)
            left -= 1
            if left == 0:
                break
    return 0


async def _ends(settings: KafkaSettings) -> list[Place]:
    contents = await read_contents(settings)
    return [
        Place(partition=each.partition, position=each.tail or 0, offset=each.end)
        for each in contents.partitions
    ]


async def _republish(
    settings: KafkaSettings, url: str, options: argparse.Namespace
) -> int:
    if options.topic == settings.topic:
        print("agent-runtime: the relay publishes to that topic", file=sys.stderr)
        return 1
    target = replace(settings, topic=options.topic)
    position = await republish(
        service_conninfo(url),
        EventMapper(AGGREGATES),
        target,
        lambda position, head: print(f"{position} of {head}", flush=True),
    )
    print(f"topic {target.topic} holds the log up to position {position}")
    return 0


def _print_event(event: Event) -> None:
    line: dict[str, Any] = {
        "position": event.position,
        "name": event.name,
        "aggregate_id": event.aggregate_id,
        "aggregate_version": event.aggregate_version,
        "recorded_at": event.recorded_at,
        "actor": event.actor,
        "data": event.data,
    }
    if event.dataref is not None:
        line["dataref"] = event.dataref
    print(orjson.dumps(line, option=orjson.OPT_UTC_Z).decode(), flush=True)


def _report(problems: Sequence[str]) -> int:
    for problem in problems:
        print(f"agent-runtime: {problem}", file=sys.stderr)
    return 1 if problems else 0


COMMANDS: Final[Mapping[str, Command]] = {
    "create": _create,
    "check": _check,
    "tail": _tail,
    "republish": _republish,
}
