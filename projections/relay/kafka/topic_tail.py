"""Follows the topic for people who look at it; consumers have the client's kit."""

# mypy: untyped-calls-exclude="aiokafka"

from collections.abc import AsyncGenerator
from typing import Any, Final

import orjson
from aiokafka import ConsumerRecord

from agent_runtime_client.kafka.errors import ForeignTopicError
from agent_runtime_client.kafka.topic_end import position_of
from projections.relay.kafka.errors import translate_errors
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_reader import relay_partitions, topic_consumer
from projections.relay.type_names import TYPE_PREFIX

POLL_MS: Final = 1000


async def tail(
    settings: KafkaSettings, *, from_beginning: bool
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield committed messages in the order of their partitions, without an end.

    :raises TopicRefusedError: the topic is missing, or isn't one of a relay
    :raises PublishError: Kafka doesn't answer; once open, it is waited for instead
    """
    _, *partitions = relay_partitions(settings)
    async with topic_consumer(settings) as consumer:
        with translate_errors("read the topic"):
            consumer.assign(partitions)
            if from_beginning:
                await consumer.seek_to_beginning(*partitions)
            else:
                await consumer.seek_to_end(*partitions)
        while True:
            with translate_errors("read the topic"):
                fetched = await consumer.getmany(timeout_ms=POLL_MS)
            for records in fetched.values():
                for record in records:
                    yield _message(record)


def _message(record: ConsumerRecord[bytes, bytes]) -> dict[str, Any]:
    position = position_of(record)
    headers = {name: value.decode() for name, value in record.headers}
    try:
        message = {
            "position": position,
            "name": headers["ce_type"].removeprefix(TYPE_PREFIX),
            "aggregate_id": headers["ce_subject"],
            "aggregate_version": int(headers["ce_aggregateversion"]),
            "recorded_at": headers["ce_time"],
            "actor": headers["ce_actor"],
            "data": None if record.value is None else orjson.loads(record.value),
        }
    except (KeyError, ValueError) as error:
        raise ForeignTopicError(
            f"{record.topic} {record.partition} holds a record that no relay wrote,"
            f" at offset {record.offset}"
        ) from error
    if "ce_dataref" in headers:
        message["dataref"] = headers["ce_dataref"]
    return message
