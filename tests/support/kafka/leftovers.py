"""What tests with a broker leave behind, and what was not tested without one."""

import gc
from collections.abc import Iterator, Sequence

import pytest

from tests.support.kafka.jars import NOT_TESTED


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
