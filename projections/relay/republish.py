"""Publishes the whole log again, to another topic, while the relay runs."""

import os
from collections.abc import Callable
from uuid import uuid4

import orjson
from psycopg.types.json import set_json_loads

from projections.relay import relay_position
from projections.relay.batch_reader import BatchReader
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_admin import create_topics
from projections.relay.kafka.topic_state import require_same_event
from projections.relay.messages import MessageBuilder
from projections.relay.public_event import public_events
from service.database import Db, connect
from service.event_log.durable import wait_for_standbys
from service.event_log.mapper import EventMapper

ReportProgress = Callable[[int, int], None]


async def republish(
    conninfo: str,
    mapper: EventMapper,
    settings: KafkaSettings,
    progress: ReportProgress,
) -> int:
    """Bring a topic up to the log's end and return that position.

    Creates the topic if it is missing. An interrupted run continues where it ended.

    :raises TopicRefusedError: the topic is of another log, or of another shape
    :raises PublishError: Kafka doesn't answer
    """
    async with await connect(conninfo) as db:
        set_json_loads(orjson.loads, db)
        log_id, epoch, _ = await relay_position.log_head(db)
        identity = LogIdentity(
            log_id=str(log_id),
            log_epoch=str(epoch),
            relay_id=f"republish:{os.getpid()}:{uuid4().hex[:8]}",
        )
        await create_topics(settings)
        publisher = TransactionalPublisher(settings, identity)
        messages = MessageBuilder(log_id, epoch, public_events(mapper.event_types))
        batches = BatchReader(db, mapper, messages)
        try:
            published = await publisher.start()
            position = published.position
            _, head, found = await relay_position.head_and_event_id(db, position)
            await wait_for_standbys(db)
            published.require_log_head(head)
            require_same_event(position, published.event_id, found)
            while batch := await batches.next(after=position, upto=head):
                await publisher.publish(batch.messages, position=batch.position)
                position = batch.position
                head = await _durable_head(db)
                progress(position, head)
        finally:
            await publisher.close()
    return position


async def _durable_head(db: Db) -> int:
    """Return the log's last position, once no fail-over can undo it."""
    _, _, head = await relay_position.log_head(db)
    await wait_for_standbys(db)
    return head
