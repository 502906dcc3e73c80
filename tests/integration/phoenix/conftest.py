"""One Phoenix for all tests of a run, and agents that send their traces to both."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.phoenix.server import Phoenix, phoenix_python, running_phoenix
from tests.integration.sessions.conftest import ada, recorder

__all__ = ["ada", "recorder"]


@pytest.fixture(scope="session")
def python_with_phoenix() -> Path:
    return phoenix_python()


@pytest.fixture(scope="session")
def phoenix(
    python_with_phoenix: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Phoenix]:
    with running_phoenix(
        python_with_phoenix, tmp_path_factory.mktemp("phoenix")
    ) as server:
        yield server
