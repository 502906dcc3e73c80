"""Random prices, ends and corrections against a plain model of the same rules."""

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidRequestError, NotFoundError
from service.price_catalog.aggregate import ModelPricing, PriceOverlapError
from service.price_catalog.periods import MANUAL
from service.price_catalog.price import price_at
from tests.price_catalog.calendar import DAYS, Calendar
from tests.price_catalog.prices import day, price, pricing


@dataclass(frozen=True)
class Step:
    """One command; ``pick`` chooses the price that it names."""

    kind: str
    start: int | None
    end: int | None
    pick: int

    def take(self, model: ModelPricing) -> bool:
        """Take the step on the aggregate and return whether it allowed it."""
        start = None if self.start is None else day(self.start)
        end = None if self.end is None else day(self.end)
        stated = price(str(model.version + 1))
        try:
            match self.kind:
                case "set":
                    model.set_price(
                        stated,
                        effective_from=start or day(1),
                        effective_until=end,
                        source=MANUAL,
                    )
                case "end":
                    model.end_price(self.pick, effective_until=start or day(1))
                case "correct":
                    model.correct_price(
                        self.pick,
                        stated,
                        effective_from=start,
                        effective_until=end,
                        source=MANUAL,
                    )
        except (PriceOverlapError, NotFoundError, InvalidRequestError):
            return False
        return True

    def expect(self, calendar: Calendar, version: int) -> bool:
        """Take the same step on the plain model."""
        match self.kind:
            case "set":
                return calendar.set(version, self.start or 1, self.end)
            case "end":
                return calendar.end(self.pick, self.start or 1)
            case _:
                return calendar.correct(self.pick, version, self.start, self.end)


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
