"""The whole log once more, to another topic, beside the relay that publishes on."""

import os
from collections.abc import Callable
from uuid import uuid4

import orjson
from psycopg import AsyncConnection
from psycopg.types.json import set_json_loads

from projections.relay import place
from projections.relay.batches import Batches
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topics import create_topics
from projections.relay.messages import Messages
from service.event_log.mapper import EventMapper

Progress = Callable[[int, int], None]


async def republish(
    conninfo: str, mapper: EventMapper, settings: KafkaSettings, progress: Progress
) -> int:
    """Bring a topic up to the log's end and return that position.

    Creates the topic where it is missing. One that was begun goes on where it
    ended, so an interrupted run is simply started again.

    :raises TopicRefusedError: the topic is of another log, or of another shape
    :raises PublishError: Kafka doesn't answer
    """
    async with await AsyncConnection.connect(conninfo, autocommit=True) as db:
        set_json_loads(orjson.loads, db)
        log_id, epoch, _ = await place.identify(db)
        identity = LogIdentity(
            log_id=str(log_id),
            log_epoch=str(epoch),
            relay_id=f"republish:{os.getpid()}:{uuid4().hex[:8]}",
        )
        await create_topics(settings)
        publisher = TransactionalPublisher(settings, identity)
        batches = Batches(db, mapper, Messages(log_id, epoch))
        try:
            published = await publisher.start()
            position = published.position
            head = (await place.identify(db))[2]
            published.require_log_head(head)
            while batch := await batches.next(after=position, upto=head):
                await publisher.publish(batch.messages, position=batch.position)
                position = batch.position
                head = (await place.identify(db))[2]
                progress(position, head)
        finally:
            await publisher.close()
    return position
