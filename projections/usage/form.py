"""How usage is grouped, compared and ordered."""

from dataclasses import dataclass
from typing import Final, Literal, LiteralString, get_args

Period = Literal["hour", "day", "week", "month"]
Subject = Literal["agent", "user", "provider", "model", "priced_as", "pricing_rule"]
Group = Literal[
    "hour",
    "day",
    "week",
    "month",
    "agent",
    "user",
    "provider",
    "model",
    "priced_as",
    "pricing_rule",
]
Order = Literal["group", "cost", "turns", "tokens"]

PERIODS: Final[tuple[Period, ...]] = get_args(Period)
SUBJECTS: Final[dict[Subject, LiteralString]] = {
    "agent": "agent_id",
    "user": "user_id",
    "provider": "provider",
    "model": "model",
    "priced_as": "priced_as",
    "pricing_rule": "pricing_rule",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How sums are grouped, compared and ordered.

    ``top``: of a series, the subjects beyond the dearest are folded into one.
    """

    period: Period | None = None
    subjects: tuple[Subject, ...] = ()
    compare: bool = False
    order: Order = "group"
    is_folded: bool = False

    @property
    def columns(self) -> list[LiteralString]:
        return [SUBJECTS[subject] for subject in self.subjects]
