"""What every test may use: it starts no server."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from service.keys.key_ring import KEY_RING_FILE, KeyRing

pytest_plugins = [
    "tests.support.failure_reports",
    "tests.support.kafka.leftovers",
    "tests.support.scheduling",
    "tests.support.time_limits",
]

# A busy machine breaks a deadline, and is slow to make up examples.
# --hypothesis-profile fast tries fewer of them.
settings.register_profile(
    "whole", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("whole"), max_examples=15)
settings.load_profile("whole")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A private folder with its keys, as after a first start."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    KeyRing.load_or_create(folder / KEY_RING_FILE)
    return folder


@pytest.fixture
def logging_as_it_was() -> Iterator[None]:
    """Undo what a command does: its process logs to standard error."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
