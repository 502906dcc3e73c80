"""Signed checkpoints on a topic of their own, read as a stranger would read them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient
from confluent_kafka import Producer
from psycopg import AsyncConnection

from agent_runtime_client.proofs.checkpoint import Checkpoint
from projections.relay.checkpoint_relay import REFUSED, CheckpointRelay
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_admin import create_topics
from service.resources import Resources
from tests.support.audit.tampering import Signed, as_owner, sign
from tests.support.callers import Callers
from tests.support.harness.service import audit
from tests.support.kafka.reading import Record, read_all
from tests.support.metrics import value_of
from tests.support.waiting import until

pytestmark = pytest.mark.kafka

POLL_S = 0.05
LOGGER = "projections.relay.checkpoint_relay"
TAMPERING = (
    "UPDATE events.stored_event SET state = state || '\\x20' WHERE notification_id = 1"
)


@asynccontextmanager
async def publishing(
    resources: Resources, kafka: KafkaSettings
) -> AsyncIterator[CheckpointRelay]:
    relay = CheckpointRelay(
        resources.pool,
        resources.conninfo,
        kafka,
        poll_s=POLL_S,
        refused_retry_s=POLL_S,
    )
    task = asyncio.create_task(relay.run())
    try:
        yield relay
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def signed(callers: Callers, resources: Resources, tmp_path: Path) -> Signed:
    await callers.user("ada")
    return await sign(resources, tmp_path)


@pytest.fixture
async def published(signed: Signed, resources: Resources, kafka: KafkaSettings) -> None:
    """A first checkpoint is on the topic."""
    async with publishing(resources, kafka):
        await on_topic(kafka, at_least=1)


async def on_topic(kafka: KafkaSettings, *, at_least: int = 0) -> list[Record]:
    """Return the topic's records, as soon as there are as many as should come."""

    async def enough() -> tuple[list[Record], bool] | None:
        records = await asyncio.to_thread(
            read_all, kafka.bootstrap, kafka.checkpoint_topic
        )
        return (records, True) if len(records) >= at_least else None

    found = await until(enough)
    assert found is not None
    return found[0]


def sizes(records: list[Record], signed: Signed) -> list[int]:
    notes = [(record.value or b"").decode() for record in records]
    return [Checkpoint.open(note, [signed.key]).size for note in notes]


async def refused(caplog: pytest.LogCaptureFixture) -> str:
    errors = await until(
        lambda: [
            record.getMessage()
            for record in caplog.records
            if (record.name, record.levelname) == (LOGGER, "ERROR")
        ]
    )
    return errors[0]


async def test_every_signed_checkpoint_is_there_as_the_api_serves_it(
    callers: Callers,
    client: TestClient,
    resources: Resources,
    kafka: KafkaSettings,
    tmp_path: Path,
) -> None:
    ada = await callers.user("ada", "superuser")
    async with publishing(resources, kafka):
        first = await sign(resources, tmp_path)
        await on_topic(kafka, at_least=1)
        await callers.user("bob")
        second = await sign(resources, tmp_path)
        records = await on_topic(kafka, at_least=2)

    served = await client.get(
        "/api/audit/checkpoint", headers={"Authorization": f"Bearer {ada.token}"}
    )
    assert [record.value for record in records] == [
        first.note.encode(),
        second.note.encode(),
    ]
    assert await served.read() == records[-1].value
    assert sizes(records, second) == sorted(sizes(records, second))
    assert {record.headers["content-type"] for record in records} == {
        b"text/plain; charset=utf-8"
    }


@pytest.mark.usefixtures("published")
async def test_a_restart_and_a_rival_publish_nothing_twice(
    callers: Callers, resources: Resources, kafka: KafkaSettings, tmp_path: Path
) -> None:
    async with publishing(resources, kafka), publishing(resources, kafka):
        await callers.user("bob")
        signed = await sign(resources, tmp_path)
        await on_topic(kafka, at_least=2)
    async with publishing(resources, kafka):
        await callers.user("eve")
        signed = await sign(resources, tmp_path)
        # Published behind anything that this relay might have published twice.
        records = await on_topic(kafka, at_least=3)

    found = sizes(records, signed)
    assert found == sorted(set(found))
    assert len(found) == 3


@pytest.mark.thorough
@pytest.mark.usefixtures("published")
async def test_a_log_that_was_rewritten_publishes_nothing_more(
    resources: Resources, kafka: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    await as_owner(resources, TAMPERING)
    async with await AsyncConnection.connect(resources.database_url) as db:
        # Anyone who rewrites a log must rewrite its tree as well.
        await db.execute("UPDATE events.merkle_node SET hash = sha256(hash)")

    async with publishing(resources, kafka):
        reason = await refused(caplog)

    assert "are not those that the checkpoint" in reason
    assert len(await on_topic(kafka)) == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("signed")
async def test_a_topic_of_another_log_or_of_something_else_is_refused(
    resources: Resources, kafka: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = Producer({"bootstrap.servers": kafka.bootstrap})
    stranger.produce(kafka.checkpoint_topic, value=b"hello", key=b"me")
    stranger.flush()

    async with publishing(resources, kafka):
        assert "is not a checkpoint" in await refused(caplog)

    assert [record.value for record in await on_topic(kafka)] == [b"hello"]


@pytest.mark.thorough
@pytest.mark.usefixtures("published")
async def test_a_log_restored_to_before_the_topic_is_refused(
    resources: Resources, kafka: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    await as_owner(resources, "DELETE FROM events.checkpoint")

    async with publishing(resources, kafka):
        assert "this log's last one is of 0" in await refused(caplog)

    assert len(await on_topic(kafka)) == 1


@pytest.mark.parametrize(
    ("harm", "repair", "said"),
    [
        (
            "UPDATE events.checkpoint SET note = E'\\n' || note",
            "UPDATE events.checkpoint SET note = substr(note, 2)",
            "NoteError",
        ),
        (
            "UPDATE events.merkle_node SET number = number + 1000",
            "UPDATE events.merkle_node SET number = number - 1000",
            "IncompleteTreeError",
        ),
    ],
)
@pytest.mark.thorough
@pytest.mark.usefixtures("published")
async def test_a_fault_in_the_database_is_shown_and_it_goes_on(
    callers: Callers,
    resources: Resources,
    kafka: KafkaSettings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    harm: str,
    repair: str,
    said: str,
) -> None:
    await callers.user("bob")
    await sign(resources, tmp_path)
    await as_owner(resources, harm)

    async with publishing(resources, kafka):
        await refused(caplog)
        await until(lambda: value_of(REFUSED) == 1)
        await as_owner(resources, repair)

        assert len(await on_topic(kafka, at_least=2)) == 2

    assert said in caplog.text


@pytest.mark.thorough
@pytest.mark.usefixtures("signed")
async def test_a_relay_that_stands_by_reports_no_refusal(
    resources: Resources, kafka: KafkaSettings
) -> None:
    async with publishing(resources, kafka):
        await on_topic(kafka, at_least=1)
        # As its own attempt would have left it, before the other took over.
        REFUSED.set(1)

        async with publishing(resources, kafka):
            await until(lambda: value_of(REFUSED) == 0)


@pytest.mark.thorough
@pytest.mark.usefixtures("signed")
async def test_without_its_topic_it_says_how_to_make_one(
    resources: Resources, kafka: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    missing = replace(kafka, topic=f"{kafka.topic}-none")

    async with publishing(resources, missing):
        assert "agent-runtime topic create" in await refused(caplog)
        await create_topics(missing)

        assert len(await on_topic(missing, at_least=1)) == 1


@pytest.mark.thorough
async def test_an_export_is_held_against_what_a_consumer_has_kept(
    callers: Callers, resources: Resources, kafka: KafkaSettings, tmp_path: Path
) -> None:
    await callers.user("ada")
    async with publishing(resources, kafka):
        await sign(resources, tmp_path)
        await on_topic(kafka, at_least=1)
        await callers.user("bob")
        signed = await sign(resources, tmp_path)
        records = await on_topic(kafka, at_least=2)
    kept = tmp_path / "kept"
    kept.write_bytes(b"".join(record.value or b"" for record in records))
    nowhere = str(tmp_path / "none")
    export = str(tmp_path / "export")

    async def verified() -> tuple[int, str]:
        url = ["--database-url", resources.database_url, "--data-dir", nowhere]
        await audit("events", *url, "--output", export)
        done = await audit(
            *("verify", export, "--public-key", str(signed.key)),
            *("--checkpoint", str(kept)),
        )
        return done.returncode, done.stdout

    assert (await verified())[0] == 0
    await as_owner(resources, TAMPERING)
    status, words = await verified()
    assert status == 1
    assert "position 1 is not the one recorded there" in words
