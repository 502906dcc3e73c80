"""Compose the statements that sum up usage."""

from collections.abc import Iterable, Sequence
from typing import Final, LiteralString

from psycopg.sql import SQL, Composable, Composed, Identifier

from projections.usage.form import SUBJECTS, Form, Order, Period
from projections.usage.sums import COSTS, COUNTS, SUMS, TELLING

VALUES: Final = (*COUNTS, *SUMS, *COSTS)
NOW: Final = (*COUNTS, *SUMS)
# What a group has of the period before.
BEFORE: Final = ("turns", "prompt_tokens", "completion_tokens", "uses_without_usage")

VISIBLE: Final = """
    SELECT u.*, {starts_at} AS starts_at,
           u.quarter < {since} AS is_before, {has_next} AS has_next
      FROM read.usage_of_quarter u
     WHERE u.quarter >= {earliest}
       AND u.quarter < {until}
       -- Amending a turn may leave rows with zeros.
       AND (u.turns, u.model_uses, coalesce(u.prompt_tokens, 0),
            coalesce(u.completion_tokens, 0)) <> (0, 0, 0, 0)
       AND (%(agent_id)s::uuid IS NULL OR u.agent_id = %(agent_id)s)
       AND (%(user_id)s::uuid IS NULL OR u.user_id = %(user_id)s)
       AND (%(provider)s::text IS NULL OR u.provider = %(provider)s)
       AND (%(model)s::text IS NULL OR u.model = %(model)s)
       AND (%(everything)s OR u.user_id = %(caller)s OR u.agent_id IN (
            SELECT agent_id FROM read.agent_manager WHERE user_id = %(caller)s))
"""
SINCE: Final = SQL("%(from_day)s::timestamp AT TIME ZONE %(zone)s")
UNTIL: Final = SQL("(%(until_day)s::date + 1)::timestamp AT TIME ZONE %(zone)s")
# As many days before the period as it has.
SINCE_BEFORE: Final = SQL(
    "(%(from_day)s::date - (%(until_day)s::date - %(from_day)s::date + 1))"
    "::timestamp AT TIME ZONE %(zone)s"
)
# Costs are summed by currency; a group with several currencies has no single cost.
GROUPS: Final = """
    WITH visible AS ({visible}),
    cell AS (
         SELECT {keys}, is_before, has_next, currency, unpriced, {sums}
           FROM visible
          GROUP BY {keys}, is_before, has_next, currency, unpriced
    ), compared AS ({compared}),
    -- Costs in several currencies don't compare: the one used most counts.
    main_currency AS (
         SELECT currency FROM compared WHERE currency IS NOT NULL AND NOT is_before
          GROUP BY currency ORDER BY sum(model_uses) DESC, currency LIMIT 1
    ){fold}, of_currency AS (
         SELECT {keys}, is_other, is_before, currency, unpriced, {sums}
           FROM {folded}
          GROUP BY {keys}, is_other, is_before, currency, unpriced
    ), usage_group AS (
         SELECT {keys}, is_other, {now}, {before},
                coalesce(json_object_agg(unpriced, model_uses ORDER BY unpriced)
                    FILTER (WHERE unpriced IS NOT NULL AND NOT is_before), '{{}}')
                    AS unpriced,
                {costs}, {costs_before},
                coalesce(array_agg(unpriced ORDER BY unpriced)
                    FILTER (WHERE unpriced IS NOT NULL AND is_before), '{{}}')
                    AS unpriced_before,
                coalesce(array_agg(trim_scale(coalesce(estimated_cost, 0))
                    ORDER BY currency)
                    FILTER (WHERE currency IS NOT NULL AND NOT is_before), '{{}}')
                    AS estimated_costs,
                coalesce(array_agg(model_uses ORDER BY currency)
                    FILTER (WHERE currency IS NOT NULL AND NOT is_before), '{{}}')
                    AS uses,
                coalesce(sum(cost) FILTER (WHERE NOT is_before
                    AND currency = (SELECT currency FROM main_currency)), 0)
                    AS comparable_cost
           FROM of_currency
          GROUP BY {keys}, is_other
         {having}
    )
    SELECT {shown}, is_other, {columns}, count(*) OVER () AS groups
      FROM usage_group
     ORDER BY {order}
    OFFSET %(offset)s LIMIT %(limit)s
"""
FOLD: Final = """,
    largest AS (
         SELECT {subjects}, true AS is_largest FROM compared WHERE NOT is_before
          GROUP BY {subjects}
          ORDER BY coalesce(sum(cost) FILTER (WHERE currency =
                       (SELECT currency FROM main_currency)), 0) DESC,
                   sum(turns) DESC, {subjects}
          LIMIT %(top)s
    ), folded AS (
         SELECT {period}, {folded_subjects}, is_largest IS NULL AS is_other,
                is_before, currency, unpriced, {values}
           FROM compared c LEFT JOIN largest l
             ON {same}
    )"""
# Each period also counts as the one before of the next, as far as that is asked for.
SHIFTED: Final = """
    SELECT {keys}, false AS is_before, currency, unpriced, {values}
      FROM cell WHERE NOT is_before
    UNION ALL
    SELECT {shifted}, true, currency, unpriced, {values}
      FROM cell WHERE has_next
"""


def statement(form: Form) -> Composed:
    """Return the statement for the groups of a form; without any, for the total."""
    keys = ["starts_at", *form.columns]
    return SQL(GROUPS).format(
        visible=_visible(form),
        keys=_joined(map(Identifier, keys)),
        sums=_joined(_sum(name) for name in VALUES),
        compared=_compared(form, keys),
        fold=_fold(form) if form.is_folded else SQL(""),
        folded=SQL(
            "folded"
            if form.is_folded
            else "(SELECT *, false AS is_other FROM compared)"
        ),
        now=_joined(_sum_of(name, name, SQL("NOT is_before")) for name in NOW),
        before=_joined(
            _sum_of(name, f"{name}_before", SQL("is_before")) for name in BEFORE
        ),
        costs=_costs(SQL("NOT is_before"), ""),
        costs_before=_costs(SQL("is_before"), "_before"),
        shown=_shown(form),
        columns=_joined(map(Identifier, SHOWN)),
        order=_order(form, keys),
        # The total also compares where nothing was used.
        having=SQL("HAVING bool_or(NOT is_before)" if keys[1:] or form.period else ""),
    )


SHOWN: Final = (
    *NOW,
    *(f"{name}_before" for name in BEFORE),
    "unpriced",
    "unpriced_before",
    "currencies",
    "costs",
    "estimated_costs",
    "uses",
    "currencies_before",
    "costs_before",
)


def _visible(form: Form) -> Composed:
    earliest: Composable = SINCE
    has_next: Composable = SQL("false")
    if form.compare and form.period:
        earliest = SQL("(%(from_day)s::timestamp - {}) AT TIME ZONE %(zone)s").format(
            _step(form.period)
        )
        if form.period == "hour":
            earliest = SQL("{} - interval '1 hour'").format(SINCE)
        has_next = SQL("{} < {}").format(
            _one_later(SQL("u.quarter"), form.period), UNTIL
        )
    elif form.compare:
        earliest = SINCE_BEFORE
    return SQL(VISIBLE).format(
        starts_at=starts_at(form.period, SQL("u.quarter")),
        since=SINCE,
        until=UNTIL,
        earliest=earliest,
        has_next=has_next,
    )


def starts_at(period: Period | None, at: Composable) -> Composable:
    """Return the start of the period that a time belongs to."""
    if period is None:
        return SQL("NULL::timestamptz")
    return SQL("date_trunc({}, {}, %(zone)s)").format(period, at)


def _step(period: Period) -> Composable:
    return SQL("interval {}").format(f"1 {period}")


def _one_later(at: Composable, period: Period) -> Composable:
    """Return a time one period later, by the clocks of the zone."""
    if period == "hour":
        return SQL("({} + interval '1 hour')").format(at)
    return SQL("((({}) AT TIME ZONE %(zone)s) + {}) AT TIME ZONE %(zone)s").format(
        at, _step(period)
    )


def _compared(form: Form, keys: Sequence[str]) -> Composable:
    if not (form.compare and form.period):
        return SQL("SELECT * FROM cell")
    later = _one_later(SQL("starts_at"), form.period)
    # Where clocks go forward at midnight, a day begins at one o'clock.
    shifted = SQL("date_trunc({}, {}, %(zone)s)").format(form.period, later)
    names = _joined(map(Identifier, VALUES))
    return SQL(SHIFTED).format(
        keys=_joined(map(Identifier, keys)),
        shifted=_joined([shifted, *map(Identifier, keys[1:])]),
        values=names,
    )


def _fold(form: Form) -> Composed:
    columns = form.columns
    return SQL(FOLD).format(
        subjects=_joined(map(Identifier, columns)),
        period=Identifier("starts_at"),
        folded_subjects=_joined(
            SQL("CASE WHEN is_largest THEN c.{0} END AS {0}").format(Identifier(name))
            for name in columns
        ),
        values=_joined(map(Identifier, VALUES)),
        same=SQL(" AND ").join(
            SQL("l.{0} IS NOT DISTINCT FROM c.{0}").format(Identifier(name))
            for name in columns
        ),
    )


def _sum(name: str) -> Composed:
    return SQL("sum({0}) AS {0}").format(Identifier(name))


def _sum_of(name: str, shown: str, which: Composable) -> Composed:
    total = SQL("trim_scale(sum({}) FILTER (WHERE {}))").format(Identifier(name), which)
    if name in COUNTS:
        total = SQL("coalesce({}, 0)::bigint").format(total)
    elif name in TELLING:
        total = SQL("CASE WHEN sum({}) FILTER (WHERE {}) > 0 THEN {} END").format(
            Identifier(TELLING[name]), which, total
        )
    return SQL("{} AS {}").format(total, Identifier(shown))


def _costs(which: Composable, ending: str) -> Composed:
    return SQL("""
        coalesce(array_agg(currency ORDER BY currency)
            FILTER (WHERE currency IS NOT NULL AND {which}), '{{}}') AS {currencies},
        coalesce(array_agg(trim_scale(cost) ORDER BY currency)
            FILTER (WHERE currency IS NOT NULL AND {which}), '{{}}') AS {costs}
    """).format(
        which=which,
        currencies=Identifier(f"currencies{ending}"),
        costs=Identifier(f"costs{ending}"),
    )


def _shown(form: Form) -> Composable:
    return _joined(
        [
            SQL("starts_at"),
            *(
                SQL(column if subject in form.subjects else "NULL AS " + column)
                for subject, column in SUBJECTS.items()
            ),
        ]
    )


def _order(form: Form, keys: Sequence[str]) -> Composable:
    first: dict[Order, LiteralString] = {
        "cost": "comparable_cost DESC, turns DESC",
        "turns": "turns DESC",
        "tokens": "coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) DESC",
    }
    ordered: list[Composable] = []
    if form.order != "group":
        ordered.append(SQL(first[form.order]))
    return _joined([*ordered, *map(Identifier, keys), SQL("is_other")])


def _joined(parts: Iterable[Composable]) -> Composed:
    return SQL(", ").join(parts)
