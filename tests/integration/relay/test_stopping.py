"""What stops a relay, what only interrupts it, and how either is seen."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from aiohttp.test_utils import TestClient
from confluent_kafka.admin import AdminClient
from psycopg import errors

from projections.event_contract import PUBLIC_EVENTS
from projections.relay.kafka.errors import BrokerUnavailableError, RecordTooLargeError
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_admin import create_topics
from projections.relay.relay import Relay, _is_transient
from service.open_resources import open_resources
from service.resources import Resources
from tests.integration.relay.published import require_equal, until_published
from tests.support.databases import fresh_database
from tests.support.event_log.cutting import cut
from tests.support.harness.process import refusing_port
from tests.support.kafka.broker import Broker
from tests.support.kafka.reading import positions
from tests.support.relay.writing import register, toggle
from tests.support.waiting import until

pytestmark = pytest.mark.kafka

RETRY_S = 0.2
GROW = """
    WITH grown AS (
        INSERT INTO events.stored_event
        SELECT e.originator_id, e.originator_version + more.n, e.topic, e.state,
               %(position)s + more.n, e.recorded_at, gen_random_uuid(), e.metadata
          FROM events.stored_event e, generate_series(1, 3) AS more (n)
         WHERE e.notification_id = %(position)s
        RETURNING notification_id)
    UPDATE events.head SET position = (SELECT max(notification_id) FROM grown)
"""


@asynccontextmanager
async def relaying(resources: Resources, kafka: KafkaSettings) -> AsyncIterator[Relay]:
    relay = Relay(resources.log, resources.conninfo, kafka, stopped_retry_s=RETRY_S)
    task = asyncio.create_task(relay.run())
    try:
        yield relay
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until_state(relay: Relay, state: str) -> None:
    await until(lambda: relay.metrics.status.state == state)


async def readiness(client: TestClient) -> tuple[str, dict[str, Any]]:
    """Return the service's readiness, and what it says of the relay."""
    answer = await (await client.get("/readyz")).json()
    followers = {each["name"]: each for each in answer["data"]["followers"]}
    return answer["data"]["status"], followers["relay"]


async def metric(client: TestClient, name: str) -> float:
    for line in (await (await client.get("/metrics")).text()).splitlines():
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    raise AssertionError(f"there is no metric {name}")


@pytest.mark.thorough
async def test_a_topic_that_is_missing_stops_it_until_there_is_one(
    resources: Resources, client: TestClient, kafka: KafkaSettings
) -> None:
    missing = replace(kafka, topic=f"{kafka.topic}.missing")
    await register(resources.log, 3)
    async with relaying(resources, missing) as relay:
        await until_state(relay, "stopped")
        status, seen = await readiness(client)
        assert status == "degraded"
        assert (
            seen["stopped"] == f"TopicMissingError: there is no topic {missing.topic}:"
            " create it by agent-runtime topic create"
        )
        assert await metric(client, 'agent_runtime_follower_stopped{follower="relay"}')
        await create_topics(missing)
        await until_published(resources, missing)
        await until_state(relay, "following")

        async def is_ready() -> bool:
            status, seen = await readiness(client)
            return (status, seen["stopped"], seen["lag"]) == ("ready", None, 0)

        # Kafka may show what the relay hasn't been told yet.
        await until(is_ready)
    await require_equal(resources, missing)


@pytest.mark.thorough
async def test_a_topic_that_was_recreated_is_refused(
    resources: Resources, client: TestClient, kafka: KafkaSettings
) -> None:
    [connector_id, *_] = await register(resources.log, 3)
    async with relaying(resources, kafka):
        await until_published(resources, kafka)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for done in admin.delete_topics([kafka.topic, kafka.position_topic]).values():
        done.result(60)
    await until(lambda: kafka.topic not in admin.list_topics(timeout=60).topics)
    await create_topics(kafka)
    await toggle(resources.log, connector_id)
    async with relaying(resources, kafka) as relay:
        await until_state(relay, "stopped")
        _, seen = await readiness(client)
        assert "was published up to position 3, but is empty" in seen["stopped"]
        assert (seen["position"], seen["lag"]) == (3, 1)
        assert seen["lag_s"] > 0
    assert positions(kafka.bootstrap, kafka.topic) == []


async def test_a_restored_log_is_refused(
    resources: Resources, client: TestClient, kafka: KafkaSettings
) -> None:
    await register(resources.log, 3)
    async with relaying(resources, kafka) as relay:
        await until_published(resources, kafka)
        await until_state(relay, "following")
        with psycopg.connect(resources.database_url, autocommit=True) as owner:
            owner.execute("UPDATE events.head SET epoch = gen_random_uuid()")
        await until_state(relay, "stopped")
        assert "LogEpochChangedError" in (await readiness(client))[1]["stopped"]
    async with relaying(resources, kafka) as relay:
        await until_state(relay, "stopped")
        assert "was written in epoch" in (await readiness(client))[1]["stopped"]


async def test_a_log_that_ends_before_its_topic_is_refused(
    resources: Resources,
    kafka: KafkaSettings,
    postgres: str,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    await register(resources.log, 3)
    async with relaying(resources, kafka):
        await until_published(resources, kafka)
    folder = tmp_path_factory.mktemp("older")
    # A clone of the same log, without what came since.
    with fresh_database(postgres, template) as url:
        async with (
            open_resources(url, folder) as older,
            relaying(older, kafka) as relay,
        ):
            await until_state(relay, "stopped")
            assert relay.metrics.status.reason is not None
            assert "but the log ends at 0" in relay.metrics.status.reason


@pytest.mark.parametrize("is_running", [True, False])
@pytest.mark.thorough
async def test_a_log_that_was_cut_and_has_grown_again_is_refused(
    resources: Resources, kafka: KafkaSettings, *, is_running: bool
) -> None:
    """In the same epoch, so that only the events tell both logs apart."""
    [connector_id] = await register(resources.log, 1)
    last = await toggle(resources.log, connector_id, 3)
    async with relaying(resources, kafka) as relay:
        await until_published(resources, kafka)
        if is_running:
            await cut_and_grow(resources, last - 1)
            await until_state(relay, "stopped")
    if not is_running:
        await cut_and_grow(resources, last - 1)
        async with relaying(resources, kafka) as relay:
            await until_state(relay, "stopped")
    assert relay.metrics.status.reason == (
        f"LogRewrittenError: the log has another event at {last} than the one published"
    )
    found = await asyncio.to_thread(positions, kafka.bootstrap, kafka.topic)
    assert found == list(range(1, last + 1))


async def cut_and_grow(resources: Resources, position: int) -> None:
    # In one transaction, so that the relay can't find the log cut but not yet grown.
    async with await psycopg.AsyncConnection.connect(resources.database_url) as owner:
        await owner.execute("LOCK TABLE events.head")
        await cut(owner, position)
        await owner.execute(GROW, {"position": position})


async def test_an_event_that_nobody_has_decided_on_stops_it_right_there(
    resources: Resources,
    client: TestClient,
    kafka: KafkaSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decided = {**PUBLIC_EVENTS}
    del decided["connector.made_public"]
    monkeypatch.setattr("projections.relay.relay.public_events", lambda _: decided)
    [connector_id, *_] = await register(resources.log, 5)
    await toggle(resources.log, connector_id)
    async with relaying(resources, kafka) as relay:
        await until_state(relay, "stopped")
        status, seen = await readiness(client)
        assert status == "degraded"
        assert "'connector.made_public' at position 6" in seen["stopped"]
    found = await asyncio.to_thread(positions, kafka.bootstrap, kafka.topic)
    assert found == [1, 2, 3, 4, 5]


async def test_without_a_broker_it_tries_again_and_shows_how_far_behind_it_is(
    resources: Resources, client: TestClient, kafka: KafkaSettings
) -> None:
    await register(resources.log, 4)
    with refusing_port() as port:
        nowhere = replace(kafka, bootstrap=f"127.0.0.1:{port}")
        await expect_interrupted(resources, client, nowhere)


async def expect_interrupted(
    resources: Resources, client: TestClient, nowhere: KafkaSettings
) -> None:
    async with relaying(resources, nowhere) as relay:
        await until_state(relay, "interrupted")
        status, seen = await readiness(client)
        assert status == "degraded"
        assert seen["stopped"] == "BrokerUnavailableError: KafkaConnectionError"
        assert (seen["position"], seen["lag"]) == (0, 4)
        assert await metric(client, "agent_runtime_relay_lag_seconds") > 0
        lag = 'agent_runtime_follower_lag_events{follower="relay"}'
        assert await metric(client, lag) == 4
        up = f'agent_runtime_relay_up{{topic="{nowhere.topic}"}}'
        assert await metric(client, up) == 0


async def test_one_relay_publishes_and_the_next_takes_over(
    resources: Resources, kafka: KafkaSettings
) -> None:
    [connector_id, *_] = await register(resources.log, 3)
    async with relaying(resources, kafka) as second:
        await until_state(second, "following")
        async with relaying(resources, kafka) as third:
            await until_state(third, "standby")
    async with relaying(resources, kafka) as fourth:
        await toggle(resources.log, connector_id)
        await until_published(resources, kafka)
        await until_state(fourth, "following")
    await require_equal(resources, kafka)


async def test_a_broken_database_connection_interrupts_it(
    resources: Resources, kafka: KafkaSettings
) -> None:
    [connector_id, *_] = await register(resources.log, 3)
    async with relaying(resources, kafka) as relay:
        await until_published(resources, kafka)
        await until_state(relay, "following")
        with psycopg.connect(resources.database_url, autocommit=True) as owner:
            owner.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        await until_state(relay, "interrupted")
        await until_state(relay, "following")
        await toggle(resources.log, connector_id)
        await until_published(resources, kafka)
    await require_equal(resources, kafka)


@pytest.mark.thorough
async def test_a_stopped_broker_is_no_news_when_it_is_back(
    resources: Resources, frail_broker: Broker, frail_kafka: KafkaSettings
) -> None:
    [connector_id, *_] = await register(resources.log, 3)
    async with relaying(resources, frail_kafka) as relay:
        await until_state(relay, "following")
        frail_broker.stop()
        await toggle(resources.log, connector_id, 10)
        await until_state(relay, "interrupted")
        await frail_broker.start_aside()
        await until_published(resources, frail_kafka)
    await require_equal(resources, frail_kafka)


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (psycopg.OperationalError("server closed the connection"), True),
        (errors.AdminShutdown(), True),
        (errors.ReadOnlySqlTransaction(), True),
        (errors.IdleInTransactionSessionTimeout(), True),
        (ConnectionResetError(), True),
        (BrokerUnavailableError(), True),
        (RecordTooLargeError(), False),
        (errors.UndefinedColumn(), False),
        (KeyError(), False),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.thorough
def test_what_passes_by_itself_is_told_from_a_fault(
    error: Exception, *, passes: bool
) -> None:
    assert _is_transient(error) is passes
