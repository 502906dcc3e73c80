"""What the log says while no broker can be reached."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from projections.relay import checkpoint_relay, relay
from projections.relay.checkpoint_relay import CheckpointRelay
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import Relay
from service.resources import Resources
from service.tasks import end_tasks
from tests.support.harness.process import refusing_port
from tests.support.waiting import until

TRIES = 4


@pytest.fixture
async def nowhere(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[KafkaSettings]:
    monkeypatch.setattr(relay, "PAUSE_MAX_S", 0.1)
    monkeypatch.setattr(checkpoint_relay, "RETRY_S", 0.1)
    with refusing_port() as port:
        yield KafkaSettings(bootstrap=f"127.0.0.1:{port}", topic="events")


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (Relay, "relay interrupted"),
        (CheckpointRelay, "publishing of checkpoints interrupted"),
    ],
)
async def test_it_is_told_once(
    kind: type[Relay | CheckpointRelay],
    line: str,
    resources: Resources,
    nowhere: KafkaSettings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "projections.relay")
    what = resources.log if kind is Relay else resources.pool
    publisher = kind(what, resources.conninfo, nowhere)  # type: ignore[arg-type]

    def levels() -> list[int]:
        return [each.levelno for each in caplog.records if each.message == line]

    task = asyncio.create_task(publisher.run())
    await until(lambda: len(levels()) >= TRIES)
    await end_tasks(task)
    assert levels().count(logging.WARNING) == 1
