"""Random prices, ends and corrections against a plain model of the same rules."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.price import price_at
from tests.support.price_catalog.calendar import DAYS, Calendar
from tests.support.price_catalog.prices import pricing
from tests.support.price_catalog.steps import Step

days = st.integers(min_value=1, max_value=DAYS)
steps = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["set", "set", "end", "correct"]),
        start=st.none() | days,
        end=st.none() | days,
        pick=st.integers(min_value=2, max_value=12),
    ),
    max_size=25,
)


@given(steps)
def test_every_moment_has_the_price_of_the_plain_model(steps: list[Step]) -> None:
    model, calendar = pricing(), Calendar()
    for step in steps:
        version = model.version
        expected = step.expect(calendar, version + 1)
        assert step.take(model) == expected, step
        assert model.version <= version + expected
        for moment, holds in calendar.moments():
            found = price_at(model, moment)
            assert (found.version if found else None) == holds
            assert found is None or found.input_price_per_1m == holds
        for earlier, later in pairwise(model.periods):
            assert earlier["effective_until"] is not None
            assert earlier["effective_until"] <= later["effective_from"]


@given(steps)
def test_a_replay_gives_the_same_periods(steps: list[Step]) -> None:
    model = pricing()
    for step in steps:
        step.take(model)

    events = list(model.pending_events)
    replayed = None
    for event in events:
        replayed = event.mutate(replayed)

    assert replayed is not None
    assert replayed.periods == model.periods
