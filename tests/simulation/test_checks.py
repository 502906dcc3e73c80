"""The model predicts what the real system reached; a wrong model doesn't.

What it reached is recorded by ``python -m tests.simulation.live --record``.
"""

from typing import Any

import pytest

from tests.simulation.checks import RIGHT, Model, Observed, compare
from tests.simulation.service_times import recorded

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
