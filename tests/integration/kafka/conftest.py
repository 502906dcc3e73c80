"""A topic of its own for each test."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic


@pytest.fixture
async def settings(bootstrap: str) -> KafkaSettings:
    return await new_topic(bootstrap)


@pytest.fixture
async def frail_settings(frail_broker: Broker) -> KafkaSettings:
    return await new_topic(frail_broker.bootstrap)


@pytest.fixture
def log() -> LogIdentity:
    return LogIdentity(log_id=str(uuid4()), log_epoch="epoch-1", relay_id="relay-1")


@pytest.fixture
async def nothing_left() -> AsyncIterator[None]:
    """Fail a test that leaves a task, a thread, or an exception that nobody read."""
    threads = {*threading.enumerate()}
    complaints: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    yield
    gc.collect()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    left = {*threading.enumerate()} - threads
    assert "kafka producer" not in {each.name for each in left}
    assert not complaints
