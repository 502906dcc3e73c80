"""How full the disk of the embedded PostgreSQL is."""

import math
import shutil
from pathlib import Path

import pytest

from service.embedded_postgres.disk_space import FREE, SIZE, report_disk_space
from tests.support.metrics import value_of


def test_the_disk_of_the_folder_is_reported_as_it_is_when_asked(
    tmp_path: Path,
) -> None:
    report_disk_space(tmp_path)

    assert value_of(SIZE) == shutil.disk_usage(tmp_path).total
    # Other programs write to it, too.
    assert value_of(FREE) == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.1)


def test_a_folder_that_is_gone_has_no_size(tmp_path: Path) -> None:
    report_disk_space(tmp_path / "gone")

    assert math.isnan(value_of(SIZE))
    assert math.isnan(value_of(FREE))
