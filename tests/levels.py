"""Which tests are fast: those that need no server and start no process.

They are marked here, by the fixtures that they use, so `pytest -m fast` finds them.
"""

import sys
from collections.abc import Iterator, MutableSequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A busy machine breaks a deadline, and is slow to make up examples.
# --hypothesis-profile fast tries fewer of them.
settings.register_profile(
    "whole", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("whole"), max_examples=15)
settings.load_profile("whole")

# Fixtures, and markers.
SERVERS = {"postgres", "bootstrap", "own_broker", "mock"}
NOT_FAST = (
    "slow",
    "servers",
    "processes",
    "kafka",
    "phoenix",
    "faults",
    "worst_inputs",
    "conformance",
)

_running: pytest.Item | None = None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: MutableSequence[pytest.Item]) -> None:
    for item in items:
        fixtures: list[str] = getattr(item, "fixturenames", [])
        if SERVERS.isdisjoint(fixtures) and not any(
            map(item.get_closest_marker, NOT_FAST)
        ):
            item.add_marker("fast")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global _running  # noqa: PLW0603 # an audit hook can't be removed
    _running = item if item.get_closest_marker("fast") else None
    try:
        return (yield)
    finally:
        _running = None


def _refuse_processes(event: str, _arguments: Any) -> None:
    if _running is not None and event in {"subprocess.Popen", "os.fork"}:
        raise RuntimeError(f"{_running.nodeid} starts a process: mark it 'processes'")


sys.addaudithook(_refuse_processes)
