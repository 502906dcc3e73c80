"""JSON that PostgreSQL renders from the types of the API's resources.

A field is annotated with the SQL that computes it, or is a nested object with such
fields.
"""

from dataclasses import dataclass
from typing import Annotated, Any, LiteralString, get_args, get_origin, get_type_hints

from psycopg.sql import SQL, Composable, Identifier


@dataclass(frozen=True, slots=True)
class Computed:
    """The SQL expression of a field."""

    sql: LiteralString


def rendered_by_sql(shape: type[Any]) -> Composable:
    """Return the expression that renders an object of a TypedDict.

    ``row_to_json``, because ``json_build_object`` adds spaces.

    :raises TypeError: a field is neither computed nor an object of such fields
    """
    fields = [
        SQL("{} AS {}").format(_expression(kind), Identifier(name))
        for name, kind in get_type_hints(shape, include_extras=True).items()
    ]
    return SQL("(SELECT row_to_json(o) FROM (SELECT {}) AS o)").format(
        SQL(", ").join(fields)
    )


def utc_text(time: LiteralString) -> LiteralString:
    """Return the SQL of a time as RFC 3339 text in UTC, to the microsecond."""
    return f"""to_char({time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


def milliseconds(interval: LiteralString) -> LiteralString:
    """Return the SQL of an interval in whole milliseconds, rounded down."""
    return f"floor(extract(epoch FROM {interval}) * 1000)::bigint"


def _expression(kind: Any) -> Composable:
    if get_origin(kind) is not Annotated:
        return rendered_by_sql(kind)
    computed = [extra for extra in get_args(kind) if isinstance(extra, Computed)]
    return SQL(computed[0].sql)
