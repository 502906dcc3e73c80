"""One command on a model's prices, for the aggregate and for the plain model."""

from dataclasses import dataclass

from service.errors import InvalidRequestError, NotFoundError
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import MANUAL, PriceOverlapError
from tests.support.price_catalog.calendar import Calendar
from tests.support.price_catalog.prices import day, price


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
