"""The tables of docs/scale.md are what the simulation says."""

import json
import re
from dataclasses import asdict

import pytest

from tests.simulation.__main__ import in_page, tables
from tests.simulation.measured import from_json, recorded_times
from tests.simulation.service_times import recorded

pytestmark = pytest.mark.slow


def test_the_page_has_the_answers_of_the_simulation() -> None:
    assert in_page() == tables(recorded_times()), "run python -m tests.simulation"


def test_64_cells_take_64_times_the_load_of_one() -> None:
    found = re.search(r"^\| 0 \| ([\d.]+) ± ([\d.]+) \|$", in_page(), re.MULTILINE)
    assert found is not None
    assert float(found[1]) - float(found[2]) >= 0.95 * 64


def test_service_times_are_read_as_they_were_written() -> None:
    times = recorded()["times"]

    assert json.loads(json.dumps(asdict(from_json(times)))) == times
