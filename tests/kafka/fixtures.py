"""A broker for the tests marked `kafka`, of whatever folder they are in."""

import gc
import os
from collections.abc import Iterator, Sequence
from uuid import uuid4

import pytest

from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_admin import create_topics
from tests.kafka.broker import Broker
from tests.kafka.jars import (
    NOT_TESTED,
    MissingError,
    broker_libs,
    go_without_broker,
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Excuse the tests with a broker, and no others, from aiokafka's leftovers.

    When a connection's opening is cancelled, because its broker is frozen or gone,
    aiokafka drops it without closing it.
    """
    for item in items:
        if item.get_closest_marker("kafka"):
            item.add_marker(
                pytest.mark.filterwarnings(
                    "ignore:Exception ignored in:"
                    "pytest.PytestUnraisableExceptionWarning"
                )
            )


@pytest.fixture(autouse=True)
def leftovers_of_cancelled_connections(
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """Collect them in the test that left them, not in one that knows no Kafka."""
    yield
    if request.node.get_closest_marker("kafka"):
        gc.collect()


@pytest.fixture(scope="session")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Start a broker that tests may harm; each test worker has one of its own."""
    try:
        libs = broker_libs()
    except MissingError as missing:
        go_without_broker(missing)
    broker = Broker(libs, tmp_path_factory.mktemp("kafka"))
    try:
        broker.format()
        broker.start()
        yield broker
    finally:
        broker.stop(timeout_s=10)


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> str:
    if given := os.environ.get("KAFKA_BOOTSTRAP"):
        return given
    broker: Broker = request.getfixturevalue("own_broker")
    return broker.bootstrap


@pytest.fixture
def frail_broker(own_broker: Broker) -> Iterator[Broker]:
    """Lend the broker to a test that kills or pauses it, and mend it afterwards."""
    yield own_broker
    own_broker.revive()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the very end, where it is read, what was not tested."""
    skipped = [str(each.longrepr) for each in terminalreporter.getreports("skipped")]
    untested = [words for words in skipped if NOT_TESTED in words]
    if untested:
        terminalreporter.write_sep("!", NOT_TESTED, red=True, bold=True)
        terminalreporter.line(
            f"{len(untested)} tests need one: install Java 17 and Maven, or set"
            " KAFKA_BOOTSTRAP. Only the protocol was tested, on librdkafka's mock"
            " cluster."
        )


async def new_topic(bootstrap: str) -> KafkaSettings:
    settings = KafkaSettings(
        bootstrap=bootstrap,
        topic=f"events-{uuid4()}",
        replication=1,
        deadline_s=8.0,
    )
    await create_topics(settings)
    return settings
