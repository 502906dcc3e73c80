"""Queries for usage."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from psycopg.rows import class_row
from typing_extensions import TypedDict

from projections.engine.rows import fetched_in_turns
from projections.usage.form import Form
from projections.usage.statements import statement
from projections.usage.sums import Sums
from projections.usage.unit_counts import UnitCounts
from service.database import Db
from service.sessions.cost import UnpricedReason

# The followers whose tables the query reads.
FOLLOWERS: Final = ("usage", "agents")


class Wanted(TypedDict):
    """Whose usage, of which days in a zone (both included), and which page."""

    caller: UUID
    everything: bool
    zone: str
    from_day: date
    until_day: date
    agent_id: UUID | None
    user_id: UUID | None
    provider: str | None
    model: str | None
    top: int
    offset: int
    limit: int


@dataclass(slots=True, kw_only=True)
class UsageOfGroup(Sums):
    """Sums of a group; columns that it isn't grouped by are None.

    ``costs``, ``estimated_costs`` and ``uses`` are those of each of ``currencies``.
    ``groups`` is the number of all groups, of which a page has some. Those that end in
    ``before`` are sums of the period before, if one is compared with.
    """

    starts_at: datetime | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    provider: str | None = None
    model: str | None = None
    priced_as: str | None = None
    pricing_rule: str | None = None
    is_other: bool = False
    unpriced: dict[UnpricedReason, int] = field(default_factory=dict)
    currencies: list[str] = field(default_factory=list)
    costs: list[Decimal] = field(default_factory=list)
    estimated_costs: list[Decimal] = field(default_factory=list)
    uses: list[Decimal] = field(default_factory=list)
    turns_before: int = 0
    prompt_tokens_before: Decimal | None = None
    completion_tokens_before: Decimal | None = None
    uses_without_usage_before: int = 0
    unpriced_before: list[UnpricedReason] = field(default_factory=list)
    currencies_before: list[str] = field(default_factory=list)
    costs_before: list[Decimal] = field(default_factory=list)
    groups: int = 0
    units: UnitCounts | None = None


async def usage_by(db: Db, form: Form, wanted: Wanted) -> list[UsageOfGroup]:
    """Return a page of sums of usage, grouped and ordered as the form says."""
    async with db.cursor(row_factory=class_row(UsageOfGroup)) as cursor:
        await cursor.execute(statement(form), wanted)
        return await fetched_in_turns(cursor)


async def total_usage(db: Db, form: Form, wanted: Wanted) -> UsageOfGroup:
    """Return the sums of all groups."""
    found = await usage_by(
        db, Form(compare=form.compare), {**wanted, "offset": 0, "limit": 1}
    )
    return found[0] if found else UsageOfGroup()
