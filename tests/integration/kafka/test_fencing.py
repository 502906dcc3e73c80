"""Two relays at once, and a relay that died: still every message once."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from aiokafka import AIOKafkaProducer

from agent_runtime_client.kafka.topic_end import POSITION_HEADER
from projections.relay.kafka.errors import BrokerUnavailableError, FencedError
from projections.relay.kafka.publisher import TransactionalPublisher, partition_of
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_reader import read_contents
from projections.relay.kafka.topic_state import Published, encode_position, verify_topic
from tests.support.kafka.messages import messages
from tests.support.kafka.reading import positions, published_position

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("nothing_left")]

Gap = Callable[[], Awaitable[None]]


class FencesFirst(TransactionalPublisher):
    """The real order, with room for something to happen between its steps."""

    gap: Gap

    async def start(self, *, remembered: int = 0) -> Published:
        await self._fence()
        await self.gap()
        return await self._read_published(remembered)


class ReadsFirst(FencesFirst):
    """The wrong order, which exists only here: a position that may be overtaken."""

    async def start(self, *, remembered: int = 0) -> Published:
        contents = await read_contents(self._settings)
        await self.gap()
        await self._fence()
        self._published = verify_topic(contents, self._log, remembered=remembered)
        return self._published


async def test_a_publisher_that_was_replaced_can_publish_nothing_more(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    old = await started(TransactionalPublisher(settings, log))
    await old.publish(messages(1, 10), position=10)
    new = await started(TransactionalPublisher(settings, log))
    with pytest.raises(FencedError):
        await old.publish(messages(11, 20), position=20)
    await new.publish(messages(11, 15), position=15)
    await old.close()
    await new.close()
    assert positions(settings.bootstrap, settings.topic) == list(range(1, 16))


@pytest.mark.thorough
async def test_a_transaction_that_was_open_when_replaced_can_not_be_committed(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    old = await started(TransactionalPublisher(settings, log))
    await leave_open(old, settings)
    new = await started(TransactionalPublisher(settings, log))
    assert old._producer is not None  # noqa: SLF001 # a producer in the midst of a transaction
    with pytest.raises(FencedError):
        await old._producer.run("commit", AIOKafkaProducer.commit_transaction)  # noqa: SLF001 # a producer in the midst of a transaction
    await new.publish(messages(1, 3), position=3)
    await old.close()
    await new.close()
    assert positions(settings.bootstrap, settings.topic) == [1, 2, 3]


@pytest.mark.thorough
async def test_an_abandoned_transaction_is_over_when_the_next_publisher_starts(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    dead = await started(TransactionalPublisher(settings, log))
    await leave_open(dead, settings)
    await dead.close()
    new = TransactionalPublisher(settings, log)
    assert (await new.start()).position == 0
    assert positions(settings.bootstrap, settings.topic) == []
    await new.close()


@pytest.mark.parametrize(
    ("order", "seen"),
    [
        (FencesFirst, list(range(1, 21))),
        (ReadsFirst, sorted([*range(1, 11), *range(1, 21)])),
    ],
)
@pytest.mark.thorough
async def test_only_a_position_read_behind_the_fence_makes_it_once(
    settings: KafkaSettings,
    log: LogIdentity,
    order: type[FencesFirst],
    seen: list[int],
) -> None:
    rival = await started(TransactionalPublisher(settings, log))
    outcomes = []

    async def rival_publishes() -> None:
        try:
            await rival.publish(messages(1, 10), position=10)
            outcomes.append("published")
        except FencedError:
            outcomes.append("fenced")

    publisher = order(settings, log)
    publisher.gap = rival_publishes
    published = await publisher.start()
    await publisher.publish(messages(published.position + 1, 20), position=20)
    await rival.close()
    await publisher.close()
    assert outcomes == ["fenced" if order is FencesFirst else "published"]
    assert positions(settings.bootstrap, settings.topic) == seen


@pytest.mark.thorough
async def test_a_position_hidden_by_a_strangers_transaction_is_not_read_too_early(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    first = await started(TransactionalPublisher(settings, log))
    async with AIOKafkaProducer(
        bootstrap_servers=settings.bootstrap, transactional_id=settings.topic
    ) as stranger:
        await stranger.begin_transaction()
        await stranger.send_and_wait(settings.position_topic, b"", b"stranger")
        await first.publish(messages(1, 10), position=10)
        await first.close()

        hasty = TransactionalPublisher(replace(settings, deadline_s=5.0), log)
        with pytest.raises(BrokerUnavailableError, match="read the topic"):
            await hasty.start()
        await hasty.close()
        await stranger.abort_transaction()

    second = TransactionalPublisher(settings, log)
    assert (await second.start()).position == 10
    await second.close()


async def test_events_committed_before_their_position_are_sent_once(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = await started(TransactionalPublisher(settings, log))
    await publisher.publish(messages(1, 10), position=10)
    await publisher.close()
    await commit_without_position(settings, first=11, last=30)

    publisher = TransactionalPublisher(settings, log)
    published = await publisher.start(remembered=10)
    assert published.position == 10
    assert max(published.tails.values()) == 30
    assert await publisher.publish(messages(11, 40), position=40) == 10
    await publisher.close()
    assert positions(settings.bootstrap, settings.topic) == list(range(1, 41))


@pytest.mark.thorough
async def test_the_last_message_is_found_behind_a_long_aborted_transaction(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = await started(TransactionalPublisher(settings, log))
    await publisher.publish(messages(1, 100), position=100)
    before = publisher._published  # noqa: SLF001 # a producer in the midst of a transaction
    for _ in range(3):
        await leave_open(publisher, settings, last=3000)
        await publisher.close()
        await publisher.start()
    assert publisher._published == before  # noqa: SLF001 # a producer in the midst of a transaction
    assert published_position(settings.bootstrap, settings.position_topic) == 100
    await publisher.close()


async def started(publisher: TransactionalPublisher) -> TransactionalPublisher:
    await publisher.start()
    return publisher


async def leave_open(
    publisher: TransactionalPublisher, settings: KafkaSettings, *, last: int = 10
) -> None:
    async def begin(producer: AIOKafkaProducer) -> None:
        await producer.begin_transaction()
        await send(producer, settings, first=1, last=last)

    assert publisher._producer is not None  # noqa: SLF001 # a producer in the midst of a transaction
    await publisher._producer.run("leave a transaction open", begin)  # noqa: SLF001 # a producer in the midst of a transaction


async def commit_without_position(
    settings: KafkaSettings, *, first: int, last: int
) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=settings.bootstrap,
        transactional_id=settings.transactional_id,
    ) as producer:
        await producer.begin_transaction()
        await send(producer, settings, first=first, last=last)
        await producer.commit_transaction()


async def send(
    producer: AIOKafkaProducer, settings: KafkaSettings, *, first: int, last: int
) -> None:
    for each in messages(first, last):
        await producer.send(
            settings.topic,
            each.value,
            each.key,
            partition=partition_of(each.key, settings.partitions),
            headers=[(POSITION_HEADER, encode_position(each.position))],
        )
    await producer.flush()
