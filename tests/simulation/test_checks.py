"""The model predicts what the real system reached; a wrong model doesn't.

What it reached is recorded by ``python -m tests.simulation.live --record``, and of two
logs by ``python -m tests.simulation.two_logs --record``.
"""

from statistics import fmean
from typing import Any

import pytest

from tests.simulation.checks import RIGHT, Model, Observed, compare, reached
from tests.simulation.service_times import recorded
from tests.simulation.two_logs import CALLERS

pytestmark = pytest.mark.slow

WRONG = {
    "without group commit": Model(batch_max=1),
    "lock released before the commit": Model(commits_in_lock=False),
    "half of the time of an append": Model(append_factor=0.5),
    "half of the time of a follower's step": Model(step_factor=0.5),
}


def failures(found: dict[str, Any], model: Model = RIGHT) -> list[str]:
    return [str(each) for each in compare(Observed.of(found), model) if not each.holds]


def test_the_model_predicts_what_was_recorded() -> None:
    assert failures(recorded()["observed"]) == []


@pytest.mark.parametrize("model", WRONG.values(), ids=WRONG)
def test_a_wrong_model_is_noticed(model: Model) -> None:
    assert failures(recorded()["observed"], model) != []


def test_two_logs_take_nearly_twice_the_commands_of_one() -> None:
    """One log with two writers, two with one each: as many callers, who wait."""
    real = recorded()["two_logs"]
    observed = Observed.of(recorded()["observed"])
    one = reached(observed, RIGHT, writers=2, callers=2 * CALLERS).rate
    two = 2 * reached(observed, RIGHT, writers=1, callers=CALLERS).rate

    assert min(real) >= 1.8
    assert two / one == pytest.approx(fmean(real), rel=0.15)
