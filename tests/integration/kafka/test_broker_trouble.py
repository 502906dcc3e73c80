"""A broker that is killed or frozen: bounded ends, and nothing lost or doubled."""

import asyncio
import time
from random import Random

import pytest

from projections.relay.kafka.errors import BrokerUnavailableError, PublishError
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_admin import check_topics
from tests.support.harness.process import refusing_port
from tests.support.kafka.broker import Broker
from tests.support.kafka.messages import message, messages
from tests.support.kafka.reading import positions, published_position

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.faults,
    pytest.mark.usefixtures("nothing_left"),
]

# More than loopback sockets buffer, so that a frozen broker leaves some unsent.
LARGE = b"x" * 500_000
REJOIN_TIMEOUT_S = 60.0
ROUNDS = 8


async def test_a_frozen_broker_ends_a_publish_in_time_and_a_close_at_once(
    frail_broker: Broker, frail_settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = TransactionalPublisher(frail_settings, log)
    await publisher.start()
    await publisher.publish(messages(1, 10), position=10)
    with frail_broker.paused():
        with pytest.raises(BrokerUnavailableError, match="in time"):
            await publisher.publish(
                [message(11 + n, LARGE) for n in range(30)], position=40
            )
        await close_at_once(publisher, frail_settings)

    assert await publish_the_rest(frail_settings, log, last=40) == 10
    found = positions(frail_settings.bootstrap, frail_settings.topic)
    assert found == list(range(1, 41))


async def test_a_killed_broker_ends_a_publish_before_its_deadline(
    frail_broker: Broker, frail_settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = TransactionalPublisher(frail_settings, log)
    await publisher.start()
    await publisher.publish(messages(1, 10), position=10)
    with frail_broker.paused():
        publishing = asyncio.create_task(
            publisher.publish(messages(11, 40), position=40)
        )
        await asyncio.sleep(0.2)
        frail_broker.kill()
    with pytest.raises(BrokerUnavailableError) as failure:
        await publishing
    assert_before_deadline(failure.value)
    await close_at_once(publisher, frail_settings)

    await frail_broker.start_aside()
    assert await publish_the_rest(frail_settings, log, last=40) == 10
    found = positions(frail_settings.bootstrap, frail_settings.topic)
    assert found == list(range(1, 41))


async def test_an_idle_publisher_survives_a_restart_or_says_that_it_did_not(
    frail_broker: Broker, frail_settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = TransactionalPublisher(frail_settings, log)
    await publisher.start()
    await publisher.publish(messages(1, 10), position=10)
    frail_broker.kill()
    await frail_broker.start_aside()
    try:
        await publisher.publish(messages(11, 20), position=20)
    except PublishError:
        await publish_the_rest(frail_settings, log, last=20)
    await publisher.close()
    found = positions(frail_settings.bootstrap, frail_settings.topic)
    assert found == list(range(1, 21))


async def test_a_start_and_a_check_end_in_time_on_a_frozen_broker(
    frail_broker: Broker, frail_settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = TransactionalPublisher(frail_settings, log)
    with frail_broker.paused():
        with pytest.raises(BrokerUnavailableError):
            await publisher.start()
        await close_at_once(publisher, frail_settings)
        with pytest.raises(BrokerUnavailableError):
            await check_topics(frail_settings)


async def test_a_start_fails_at_once_where_nobody_listens(log: LogIdentity) -> None:
    with refusing_port() as port:
        settings = KafkaSettings(bootstrap=f"127.0.0.1:{port}", topic="events")
        publisher = TransactionalPublisher(settings, log)
        with pytest.raises(BrokerUnavailableError) as failure:
            await publisher.start()
    assert_before_deadline(failure.value)
    await close_at_once(publisher, settings)


async def test_a_closed_publisher_can_be_closed_again(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = TransactionalPublisher(settings, log)
    await publisher.close()
    await publisher.start()
    await publisher.close()
    await publisher.close()


@pytest.mark.parametrize("seed", range(3))
async def test_events_and_position_stay_together_wherever_a_relay_dies(
    frail_broker: Broker, frail_settings: KafkaSettings, log: LogIdentity, seed: int
) -> None:
    random = Random(seed)  # noqa: S311
    bootstrap, remembered = frail_settings.bootstrap, 0
    rounds, longest_s = 0, 0.1
    # A slow machine needs longer rounds until one of them publishes anything.
    while rounds < ROUNDS or remembered == 0:
        rounds, longest_s = rounds + 1, longest_s * 1.3
        publisher = TransactionalPublisher(frail_settings, log)
        remembered = (await publisher.start(remembered=remembered)).position
        relaying = asyncio.create_task(publish_without_end(publisher, remembered))
        await asyncio.sleep(random.uniform(0, longest_s))
        if random.random() < 0.2:
            frail_broker.kill()
            await frail_broker.start_aside()
        relaying.cancel()
        await asyncio.gather(relaying, return_exceptions=True)
        await close_at_once(publisher, frail_settings)

    publisher = TransactionalPublisher(frail_settings, log)
    published = await publisher.start(remembered=remembered)
    await publisher.close()
    assert published.position > 0
    assert max(published.tails.values()) == published.position
    found = positions(bootstrap, frail_settings.topic)
    assert found == list(range(1, published.position + 1))
    told = published_position(bootstrap, frail_settings.position_topic)
    assert told == published.position


async def publish_without_end(publisher: TransactionalPublisher, position: int) -> None:
    while True:
        batch = messages(position + 1, position + 50)
        position += 50
        await publisher.publish(batch, position=position)


async def publish_the_rest(
    settings: KafkaSettings, log: LogIdentity, *, last: int
) -> int:
    """Publish with a new publisher after each error; return the position found first.

    A broker that was frozen for longer than its session lists itself, then nobody
    until its controller has let it in again, then itself: a relay tries again.
    """
    found: int | None = None
    async with asyncio.timeout(REJOIN_TIMEOUT_S):
        while True:
            publisher = TransactionalPublisher(settings, log)
            try:
                position = (await publisher.start()).position
                found = position if found is None else found
                if position < last:
                    rest = messages(position + 1, last)
                    await publisher.publish(rest, position=last)
            except BrokerUnavailableError:
                await asyncio.sleep(0.1)
            else:
                return found
            finally:
                await publisher.close()


def assert_before_deadline(failure: BaseException) -> None:
    """Fail if a time limit ended the attempt; how long it took says less."""
    assert " in time" not in str(failure)


async def close_at_once(
    publisher: TransactionalPublisher, settings: KafkaSettings
) -> None:
    """Close it; aiokafka's own close waits for its longer timeout, or forever."""
    began = time.monotonic()
    await publisher.close()
    assert time.monotonic() - began < settings.deadline_s
