"""One Phoenix for all tests of a run, and agents that send their traces to both."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.phoenix.installed import MissingError, go_without_phoenix, phoenix_python
from tests.phoenix.server import Phoenix, running_phoenix
from tests.sessions.conftest import ada, recorder

__all__ = ["ada", "recorder"]


@pytest.fixture(scope="session")
def python_with_phoenix() -> Path:
    try:
        return phoenix_python()
    except MissingError as missing:
        go_without_phoenix(missing)


@pytest.fixture(scope="session")
def phoenix(
    python_with_phoenix: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Phoenix]:
    with running_phoenix(
        python_with_phoenix, tmp_path_factory.mktemp("phoenix")
    ) as server:
        yield server
