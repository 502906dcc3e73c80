"""Creates the event, position and checkpoint topics, and checks existing ones."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import NoError, TopicAlreadyExistsError, for_code

from projections.relay.kafka.clients import stop_in_time
from projections.relay.kafka.errors import TopicSettingsError, translate_errors
from projections.relay.kafka.settings import KafkaSettings, client_options
from projections.relay.kafka.topic_reader import read_contents
from projections.relay.kafka.topic_state import TopicContents

# Kafka's default, set explicitly because the largest record must fit.
BATCH_BYTES_MAX: Final = 1_048_588
LISTED_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCheck:
    """Problems of the topics, and their contents if they have the right partitions."""

    problems: Sequence[str]
    contents: TopicContents | None


async def create_topics(settings: KafkaSettings) -> Sequence[str]:
    """Create the topics that are missing and return their names.

    Existing topics stay unchanged; `check_topics` compares them with the settings.
    """
    wanted = [
        NewTopic(
            name,
            partitions,
            settings.replication,
            topic_configs=topic_configuration(settings, name),
        )
        for name, partitions in _partition_counts(settings).items()
    ]
    async with _admin(settings, "create the topics") as admin:
        response: Any = await admin.create_topics(wanted)
        created = [
            topic
            for topic, code, detail in response.topic_errors
            if _was_created(topic, code, detail)
        ]
        # A created topic is listed with a delay; a relay would find it missing.
        while True:
            if {*created} <= {*await admin.list_topics()}:
                return created
            await asyncio.sleep(LISTED_POLL_S)


async def check_topics(settings: KafkaSettings) -> TopicCheck:
    """Compare the topics with the settings, and read how far they are published.

    :raises PublishError: the broker doesn't answer, or not in time
    """
    async with _admin(settings, "describe the topics") as admin:
        problems = await _wrong_partitions(admin, settings)
        if problems:
            return TopicCheck(problems=problems, contents=None)
        for topic in _partition_counts(settings):
            problems += await _wrong_settings(admin, settings, topic)
    return TopicCheck(problems=problems, contents=await read_contents(settings))


def topic_configuration(settings: KafkaSettings, topic: str) -> Mapping[str, str]:
    configuration = {
        "min.insync.replicas": str(settings.min_insync_replicas),
        "max.message.bytes": str(BATCH_BYTES_MAX),
    }
    if topic == settings.position_topic:
        return configuration | {"cleanup.policy": "compact"}
    # Compaction would keep only the last event of each aggregate. Checkpoints are kept
    # forever: the older, the more they prove.
    is_kept = topic == settings.checkpoint_topic
    return configuration | {
        "cleanup.policy": "delete",
        "retention.ms": "-1" if is_kept else str(settings.retention_ms),
    }


def _partition_counts(settings: KafkaSettings) -> dict[str, int]:
    return {
        settings.topic: settings.partitions,
        settings.position_topic: 1,
        settings.checkpoint_topic: 1,
    }


def _was_created(topic: str, code: int, detail: str | None) -> bool:
    error = for_code(code)
    if error not in (NoError, TopicAlreadyExistsError):
        raise TopicSettingsError(f"could not create topic {topic}: {detail or error()}")
    return error is NoError


async def _wrong_partitions(
    admin: AIOKafkaAdminClient, settings: KafkaSettings
) -> list[str]:
    # Describes all topics: asking for one by name may create it, with other settings.
    described = {each["topic"]: each for each in await admin.describe_topics()}
    problems = []
    for topic, count in _partition_counts(settings).items():
        if topic not in described:
            problems.append(f"there is no topic {topic}")
            continue
        partitions = described[topic]["partitions"]
        if len(partitions) != count:
            problems.append(
                f"topic {topic} has {len(partitions)} partitions instead of {count}"
            )
    return problems


async def _wrong_settings(
    admin: AIOKafkaAdminClient, settings: KafkaSettings, topic: str
) -> list[str]:
    wanted = topic_configuration(settings, topic)
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, dict.fromkeys(wanted))
    response: Any
    [response] = await admin.describe_configs([resource])
    [(_, _, _, _, entries)] = response.resources
    actual = {name: value for name, value, *_ in entries}
    return [
        f"topic {topic} has {name}={actual.get(name)} instead of {value}"
        for name, value in wanted.items()
        if actual.get(name) != value
    ]


@asynccontextmanager
async def _admin(
    settings: KafkaSettings, attempt: str
) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**client_options(settings))
    try:
        with translate_errors(attempt):
            async with asyncio.timeout(settings.deadline_s):
                await admin.start()
                yield admin
    finally:
        await stop_in_time(admin.close())
