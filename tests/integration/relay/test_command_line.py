"""The topic from the command line, and a relay as a process of the service."""

import asyncio
import json
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest

from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import run_relay
from service.resources import Resources
from tests.integration.relay.published import require_equal, until_published
from tests.support.harness.service import agent_runtime, running, serving
from tests.support.kafka.reading import positions
from tests.support.relay.writing import register, toggle

pytestmark = pytest.mark.kafka


@dataclass(frozen=True, slots=True)
class Done:
    status: int
    out: str
    err: str


class Service:
    """Runs ``agent-runtime`` on one database, folder and topic."""

    def __init__(self, url: str, folder: Path, kafka: KafkaSettings | None) -> None:
        self.settings = {
            "AGENT_RUNTIME_DATABASE_URL": url,
            "AGENT_RUNTIME_DATA_DIR": str(folder),
        }
        if kafka is not None:
            self.settings |= {
                "AGENT_RUNTIME_KAFKA": kafka.bootstrap,
                "AGENT_RUNTIME_KAFKA_TOPIC": kafka.topic,
                "AGENT_RUNTIME_KAFKA_REPLICATION": "1",
            }

    async def run(self, *arguments: str) -> Done:
        done = await asyncio.to_thread(
            agent_runtime, *arguments, settings=self.settings
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def fresh(kafka: KafkaSettings) -> KafkaSettings:
    """A topic that isn't there yet."""
    return replace(kafka, topic=f"fresh-{uuid4()}")


@pytest.fixture
def service(resources: Resources, tmp_path: Path, fresh: KafkaSettings) -> Service:
    return Service(resources.database_url, tmp_path, fresh)


async def test_a_topic_is_made_served_checked_and_read(
    service: Service, resources: Resources, fresh: KafkaSettings
) -> None:
    missing = await service.run("topic", "check")
    assert (missing.status, missing.out) == (1, "")
    assert f"there is no topic {fresh.topic}" in missing.err

    made = await service.run("topic", "create")
    assert made == Done(
        0,
        f"created topic {fresh.topic}\ncreated topic {fresh.position_topic}\n"
        f"created topic {fresh.checkpoint_topic}\n",
        "",
    )
    [connector_id, *_] = await register(resources.log, 3)
    relay = serving("--only", "relay", settings=service.settings)
    with running(relay):
        await until_published(resources, fresh)
        position = await toggle(resources.log, connector_id)
        await until_published(resources, fresh)
    assert relay.wait() == 0
    await require_equal(resources, fresh)

    checked = await service.run("topic", "check")
    assert checked.status == 0
    assert f"published up to position {position}" in checked.out

    count = str(position)
    tail = await service.run("topic", "tail", "--from-beginning", "--count", count)
    assert "Unclosed" not in tail.err
    lines = [json.loads(line) for line in tail.out.splitlines()]
    assert sorted(each["position"] for each in lines) == [*range(1, position + 1)]
    assert lines[0].keys() >= {"name", "aggregate_id", "recorded_at", "actor", "data"}


@pytest.mark.thorough
async def test_a_log_is_published_again_to_another_topic(
    service: Service, resources: Resources, kafka: KafkaSettings, fresh: KafkaSettings
) -> None:
    [connector_id, *_] = await register(resources.log, 5)
    await toggle(resources.log, connector_id, 30)
    again = replace(fresh, topic=f"{fresh.topic}.v2", partitions=3)
    async with run_relay(resources.log, resources.conninfo, kafka):
        for _ in range(2):
            done = await service.run(
                "topic", "republish", again.topic, "--kafka-partitions", "3"
            )
            assert done.status == 0, done.err
        assert "contains the log up to position 35" in done.out
        await until_published(resources, kafka)
    await require_equal(resources, again)
    assert positions(kafka.bootstrap, kafka.topic) == list(range(1, 36))


@pytest.mark.thorough
async def test_publishing_again_to_the_relays_own_topic_is_refused(
    service: Service, fresh: KafkaSettings
) -> None:
    refused = await service.run("topic", "republish", fresh.topic)
    assert refused.status == 1
    assert "the relay publishes to that topic" in refused.err


async def test_a_relay_needs_a_kafka_address(
    resources: Resources, tmp_path: Path
) -> None:
    service = Service(resources.database_url, tmp_path, None)
    refused = await service.run("serve", "--only", "relay")
    assert refused.status == 78
    assert "AGENT_RUNTIME_KAFKA" in refused.err
