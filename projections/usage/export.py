"""All groups of usage as CSV, written to a file before they are sent."""

import asyncio
import csv
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from io import SEEK_END, StringIO
from tempfile import TemporaryFile
from typing import IO, Any, Final

from aiohttp import hdrs, web
from psycopg.rows import class_row
from psycopg.sql import SQL, Identifier

from projections.engine.rows import fetched_in_turns
from projections.usage.completeness import CurrencyCost
from projections.usage.form import Form
from projections.usage.queries import UsageOfGroup, Wanted, total_usage
from projections.usage.resource import usage_resource
from projections.usage.statements import statement
from service.database import Db
from service.errors import MalformedRequestError, Problem
from service.http.streaming import STREAMS
from service.pacing import in_thread

GROUPS_MAX: Final = 200_000
DECLARED: Final = "usage_export"
BATCH: Final = 200
PART_BYTES: Final = 256 * 1024
COUNTS: Final = (
    "turns",
    "turns_with_error",
    "turns_without_price",
    "turns_without_usage",
)
UNCLEAR: Final = ("estimated_turns", "unknown_turns", "cost_unknown_because")
DIFFERING: Final = {
    "differing_turns": "turns",
    "differing_cost": "cost",
    "differing_reported_cost": "reported_cost",
}
TOKENS: Final = ("prompt", "completion", "cache_read", "cache_creation")
_FORMULA: Final = re.compile(r"^([\s]*)(?=[=+\-@])")


async def written_csv(db: Db, form: Form, zone: str, wanted: Wanted) -> IO[bytes]:
    """Return a file with all groups; it exists only while it is open.

    The connection isn't held while a client reads.

    :raises MalformedRequestError: there are more than ``GROUPS_MAX`` groups
    """
    total = await total_usage(db, form, wanted)
    file: IO[bytes] = await asyncio.to_thread(TemporaryFile)
    try:
        header = [*_period_columns(form), *form.columns, *COUNTS]
        header += [f"{name}_tokens" for name in TOKENS]
        header += ["cost", "currency"]
        for name in ("known_cost", "estimated_cost"):
            header += [f"{name}_{currency}" for currency in total.currencies]
        header += [*UNCLEAR, *DIFFERING]
        await asyncio.to_thread(file.write, _csv([header]))
        async with (
            db.cursor(DECLARED) as declared,
            # That one would make all rows at once.
            db.cursor(row_factory=class_row(UsageOfGroup)) as cursor,
        ):
            await declared.execute(
                statement(form), {**wanted, "offset": 0, "limit": GROUPS_MAX + 1}
            )
            next_groups = SQL("FETCH {} FROM {}").format(BATCH, Identifier(DECLARED))
            while groups := await fetched_in_turns(await cursor.execute(next_groups)):
                _refuse_too_many(groups[0].groups)
                lines = await in_thread(_lines, groups, form, zone, total.currencies)
                await asyncio.to_thread(file.write, lines)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


async def sent_file(
    request: web.Request, file: IO[bytes], name: str, headers: Mapping[str, str]
) -> web.StreamResponse:
    """Send a file to be saved under a name, as its client reads it.

    With its length, so that a proxy can't end it early without a sign.
    """
    headers = {**headers, "Content-Disposition": f'attachment; filename="{name}"'}
    if request.method == hdrs.METH_HEAD:
        return web.Response(content_type="text/csv", headers=headers)
    headers[hdrs.CONTENT_LENGTH] = str(await asyncio.to_thread(file.seek, 0, SEEK_END))
    file.seek(0)
    async with request.config_dict[STREAMS].open(request, "text/csv", headers) as sent:
        while part := await asyncio.to_thread(file.read, PART_BYTES):
            await sent.write(part)
    return sent.response


def _refuse_too_many(groups: int) -> None:
    if groups > GROUPS_MAX:
        raise MalformedRequestError(
            f"there are {groups} groups; a file has at most {GROUPS_MAX}",
            problems=[Problem("group_by", "choose fewer days or groups")],
            code="too_many_groups",
        )


def _period_columns(form: Form) -> list[str]:
    match form.period:
        case None:
            return []
        case "hour":
            return ["starts_at"]
        case _:
            return ["starts_at", "day"]


def _lines(
    groups: Sequence[UsageOfGroup], form: Form, zone: str, currencies: Sequence[str]
) -> bytes:
    rows = []
    for group in groups:
        shown: Any = usage_resource(group, form, zone)
        known = _by_currency(shown["known_costs"])
        completeness = shown["completeness"]
        estimated = _by_currency(completeness["estimated"]["costs"])
        values = [
            *(shown[name] for name in (*_period_columns(form), *form.columns, *COUNTS)),
            *(shown["known_token_usage"][name] for name in TOKENS),
            shown["cost"],
            shown["currency"],
            *(known.get(currency) for currency in currencies),
            *(estimated.get(currency) for currency in currencies),
            completeness["estimated"]["turns"],
            completeness["unknown"]["turns"],
            " ".join(shown["cost_unknown_because"]),
            *(shown["differing"][name] for name in DIFFERING.values()),
        ]
        rows.append([_cell(value) for value in values])
    return _csv(rows)


def _by_currency(costs: Sequence[CurrencyCost]) -> dict[str, Decimal]:
    return {each["currency"]: each["cost"] for each in costs}


def _cell(value: Any) -> str:
    """Return a value as text that no spreadsheet reads as a formula."""
    match value:
        case None:
            return ""
        case Decimal():
            return format(value, "f")
        case str():
            return _FORMULA.sub(r"\1'", value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    lines = StringIO()
    csv.writer(lines).writerows(rows)
    return lines.getvalue().encode()
