"""``agent-runtime topic``: create, check, tail, republish the Kafka topic."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import orjson
from psycopg import AsyncConnection

from agent_runtime_client.kafka.errors import TopicRefusedError
from projections.relay import relay_position
from projections.relay.kafka.errors import PublishError
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_admin import check_topics, create_topics
from projections.relay.kafka.topic_state import verify_topic
from projections.relay.kafka.topic_tail import tail
from projections.relay.kafka_settings import kafka_settings
from projections.relay.republish import republish
from service.aggregates import AGGREGATES
from service.cli.databases import migrated_database
from service.cli.running import EXIT_FAILED, print_error, run_async
from service.cli.settings import add_settings
from service.config import Config
from service.database import service_conninfo
from service.event_log.mapper import EventMapper
from service.logs import escape_unprintable

TopicCommand = Callable[[KafkaSettings, str, argparse.Namespace], Awaitable[int]]


def add_to(parser: argparse.ArgumentParser) -> None:
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    create = subparsers.add_parser(
        "create",
        help="create missing topics",
        description="Create the topic of events, and those of the relay position and "
        "of audit checkpoints, where they are missing.",
    )
    check = subparsers.add_parser(
        "check",
        help="compare the topics with the settings and the event log",
        description="Compare the topics with the settings and the event log; exits "
        "with 1 if they differ.",
    )
    tail = subparsers.add_parser(
        "tail",
        help="print events as they are published",
        description="Print events as they are published, one JSON object a line.",
    )
    tail.add_argument(
        "--from-beginning", action="store_true", help="start at the oldest event"
    )
    tail.add_argument(
        "--count",
        metavar="N",
        type=int,
        default=0,
        help="stop after this many events (default: don't stop)",
    )
    republish = subparsers.add_parser(
        "republish",
        help="publish the whole event log to another topic",
        description="Publish the whole event log to another topic, while the relay "
        "runs. The topic is created with --kafka-partitions partitions. An interrupted "
        "run continues when run again.",
    )
    republish.add_argument("topic", help="name of the other topic")
    for subparser, command, reads_log in (
        (create, _create, False),
        (check, _check, True),
        (tail, _tail, False),
        (republish, _republish, True),
    ):
        add_settings(subparser, "Kafka")
        subparser.set_defaults(
            run=topic_command, topic_command=command, reads_log=reads_log
        )


def topic_command(config: Config, options: argparse.Namespace) -> int:
    if not options.reads_log:
        return run_async(_run(config, "", options))
    with migrated_database(config) as url:
        return run_async(_run(config, url, options))


async def _run(config: Config, database_url: str, options: argparse.Namespace) -> int:
    command: TopicCommand = options.topic_command
    try:
        return await command(kafka_settings(config), database_url, options)
    except (TopicRefusedError, PublishError) as error:
        print_error(error)
        return EXIT_FAILED


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
    left: int = options.count
    # Also where it is left early, its consumer is closed.
    async with aclosing(
        tail(settings, from_beginning=options.from_beginning)
    ) as messages:
        async for message in messages:
            await asyncio.to_thread(_print_message, message)
            left -= 1
            if left == 0:
                break
    return 0


async def _republish(
    settings: KafkaSettings, url: str, options: argparse.Namespace
) -> int:
    if options.topic == settings.topic:
        print_error("the relay publishes to that topic; choose another one")
        return EXIT_FAILED
    target = replace(settings, topic=options.topic)
    position = await republish(
        service_conninfo(url),
        EventMapper(AGGREGATES),
        target,
        lambda position, head: print(f"position {position} of {head}", flush=True),
    )
    print(f"topic {target.topic} contains the log up to position {position}")
    return 0


def _print_message(message: Mapping[str, Any]) -> None:
    text = orjson.dumps(message).decode()
    print(escape_unprintable(text), flush=True)


def _report(problems: Sequence[str]) -> int:
    for problem in problems:
        print_error(problem)
    return EXIT_FAILED if problems else 0
