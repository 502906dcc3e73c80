"""What the tests of full disks share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.instruments.faults import disk
from tests.instruments.faults.tools import MissingToolError, go_without


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk that the test can fill, of as many megabytes as its module says."""
    try:
        with disk.small_disk(
            tmp_path / "disk", megabytes=request.module.MEGABYTES
        ) as folder:
            yield folder
    except MissingToolError as missing:
        go_without(missing)
