"""``agent-runtime audit``: export, checkpoint and replay of the event log.

The commands read the database as ``agent_runtime_reader`` if the login role may, in
read-only transactions, so they also run on a replica.
"""

import argparse
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from psycopg import AsyncConnection
from psycopg.errors import InsufficientPrivilege
from psycopg.sql import SQL, Identifier
from pydantic import TypeAdapter, ValidationError

from projections.audit.proofs.queries import latest_checkpoint, leaves_known
from projections.audit.replay import replay
from projections.audit.trail.export import export
from projections.audit.trail.filters import TrailQuery, filters_of
from projections.audit.trail.queries import trail_and_log_end
from projections.catalog import follower_conninfo, running_projectors
from projections.engine.time_travel import as_of
from service.aggregates import AGGREGATES
from service.cli.audit_verify import add_verify_to
from service.cli.databases import database_to_read
from service.cli.running import EXIT_FAILED, print_error, run_async
from service.cli.settings import add_settings
from service.config import Config
from service.database import READER_ROLE, SERVICE_ROLE, Db, service_conninfo
from service.errors import ConfigError
from service.event_log.mapper import EventMapper
from service.http.as_of import FORM, At
from service.migrate import require_migrated

FILTERS: Final[Mapping[str, str]] = {
    "actor": "only events that this user caused, by id",
    "kind": "only this event type, or every event type of this aggregate",
    "resource": "only events about this id, or that mention it",
    "request_id": "only events of this request, by its X-Request-Id",
    "from_time": "only events recorded at or after this time, such as "
    "2026-11-01T12:00:00Z",
    "until_time": "only events recorded before this time",
    "from_position": "only events at or after this position",
    "until_position": "only events at or before this position",
}
READ_ONLY: Final = {
    "default_transaction_read_only": "on",
    "statement_timeout": "10min",
    "idle_in_transaction_session_timeout": "0",
}

AuditCommand = Callable[[str, Config, argparse.Namespace], Awaitable[int]]


def add_to(parser: argparse.ArgumentParser) -> None:
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    events = subparsers.add_parser(
        "events",
        help="export the audit trail",
        description="Export the audit trail, oldest event first. Reads only, also from "
        "a replica. 'audit verify' takes an export as JSON Lines without filters.",
    )
    for name, help_text in FILTERS.items():
        events.add_argument(
            "--" + name.replace("_", "-"),
            metavar=name.rpartition("_")[2].upper(),
            help=help_text,
        )
    events.add_argument(
        "--format",
        choices=("jsonl", "csv"),
        default="jsonl",
        help="JSON Lines or CSV (default: jsonl)",
    )
    events.add_argument(
        "--output",
        metavar="FILE",
        default="-",
        help="file to write, - for stdout (default: -)",
    )
    _runs(events, _events)
    checkpoint = subparsers.add_parser(
        "checkpoint",
        help="print the newest signed checkpoint of the event log",
        description="Print the newest signed checkpoint of the event log.",
    )
    checkpoint.add_argument(
        "--key", action="store_true", help="print the public key instead"
    )
    _runs(checkpoint, _checkpoint)
    replay_parser = subparsers.add_parser(
        "replay",
        help="build the read tables as of a past position or time",
        description="Build all read tables as of a past position or time, in a schema "
        "of their own: managers, rules, grants, public connectors, prices, sessions. "
        "The live tables are not changed.",
    )
    replay_parser.add_argument(
        "--at",
        metavar="POSITION|TIME",
        required=True,
        help="a position of the event log, or a time such as 2026-11-01T12:00:00Z",
    )
    replay_parser.add_argument(
        "--schema",
        metavar="NAME",
        help="name of the new schema (default: replay_POSITION)",
    )
    replay_parser.add_argument(
        "--into",
        metavar="URL",
        help="another database to build the tables in; needed on a replica, which is "
        "read-only",
    )
    _runs(replay_parser, _replay)
    add_verify_to(subparsers)


def _runs(parser: argparse.ArgumentParser, command: AuditCommand) -> None:
    add_settings(parser)
    parser.set_defaults(run=audit_command, audit_command=command)


def audit_command(config: Config, options: argparse.Namespace) -> int:
    command: AuditCommand = options.audit_command

    async def work(url: str) -> int:
        return await command(url, config, options)

    with database_to_read(config) as url:
        # On an external one, perhaps a replica, the login role may see no migrations.
        if config.database_url is None:
            require_migrated(url)
        return run_async(work(url))


@asynccontextmanager
async def reading_database(database_url: str) -> AsyncIterator[Db]:
    """Connect for reading, with the fewest rights that the login role can have."""
    conninfo = service_conninfo(database_url, role="none", **READ_ONLY)
    async with await AsyncConnection.connect(conninfo, autocommit=True) as db:
        for role in (READER_ROLE, SERVICE_ROLE):
            try:
                await db.execute(SQL("SET ROLE {}").format(Identifier(role)))
            except InsufficientPrivilege:
                continue
            break
        yield db


async def _events(
    database_url: str, _config: Config, options: argparse.Namespace
) -> int:
    query = _query(options)
    mapper = EventMapper(AGGREGATES)
    async with reading_database(database_url) as db:
        trail, head = await trail_and_log_end(db)
        filters = await filters_of(db, query, last=head)
        if filters.narrows:
            if trail == 0 < head:
                print_error(
                    "the audit trail has not been built in this epoch of the log yet: "
                    "filters need it, an export without filters doesn't"
                )
                return EXIT_FAILED
            filters = await filters_of(db, query, last=trail)
        with _output(options.output) as file:
            async for exported in export(
                lambda: nullcontext(db),
                mapper,
                filters,
                options.format,
                leaves_known,
            ):
                file.write(exported.lines)
    return 0


def _query(options: argparse.Namespace) -> TrailQuery:
    given = {name: getattr(options, name) for name in FILTERS}
    try:
        return TrailQuery.model_validate_strings(
            {name: value for name, value in given.items() if value is not None}
        )
    except ValidationError as invalid:
        problems = [
            f"--{str(error['loc'][0]).replace('_', '-')}: {error['msg']}"
            for error in invalid.errors(include_input=False)
        ]
        raise ConfigError("; ".join(problems)) from None


async def _checkpoint(
    database_url: str, _config: Config, options: argparse.Namespace
) -> int:
    async with reading_database(database_url) as db:
        checkpoint = await latest_checkpoint(db)
    if checkpoint is None:
        print_error("no checkpoint has been signed yet")
        return EXIT_FAILED
    if options.key:
        print(checkpoint.public_key)
    else:
        print(checkpoint.note, end="")
    return 0


async def _replay(
    database_url: str, config: Config, options: argparse.Namespace
) -> int:
    mapper = EventMapper(AGGREGATES)
    # Without --into the service's own role builds them, as it does the live ones.
    into = options.into or follower_conninfo(database_url)
    async with (
        reading_database(database_url) as source,
        await AsyncConnection.connect(into, autocommit=True) as target,
    ):
        position = (await as_of(source, mapper, _position_or_time(options.at))).position
        schema = options.schema or f"replay_{position}"
        await replay(
            source,
            target,
            mapper,
            running_projectors(config),
            position=position,
            schema=schema,
            progress=_print_progress,
        )
        if options.into is None:
            await target.execute(
                SQL("GRANT USAGE ON SCHEMA {} TO {}").format(
                    Identifier(schema), Identifier(READER_ROLE)
                )
            )
    print(f"schema {schema} contains the state at position {position}")
    return 0


def _print_progress(position: int, target: int) -> None:
    print(f"position {position} of {target}", flush=True)


def _position_or_time(text: str) -> int | datetime:
    try:
        at: int | datetime = TypeAdapter(At).validate_python(text)
    except ValidationError:
        raise ConfigError(f"--at {FORM}") from None
    return at


@contextmanager
def _output(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with Path(path).open("wb") as file:
            yield file
