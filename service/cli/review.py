"""What a reviewer does from the command line: read, prove, replay.

Reads the database as ``agent_runtime_reader`` where the login may, in transactions
that can't write, so that a replica will do.
"""

import argparse
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from psycopg import AsyncConnection
from psycopg.errors import InsufficientPrivilege
from psycopg.sql import SQL, Identifier
from pydantic import TypeAdapter, ValidationError

from projections.audit.entry_json import UnreadableEntryError
from projections.audit.proofs.checkpoint import Checkpoint
from projections.audit.proofs.checkpoint_files import PUBLIC_KEY
from projections.audit.proofs.note import NoteError, VerifierKey, notes_in
from projections.audit.proofs.queries import latest_checkpoint
from projections.audit.proofs.verify import Contradiction, Verdict, verify_export
from projections.audit.replay import replay
from projections.audit.trail.export import export
from projections.audit.trail.filters import TrailQuery, filters_of
from projections.audit.trail.queries import trail_and_log_end
from projections.catalog import follower_conninfo
from projections.engine.time_travel import past
from service.aggregates import AGGREGATES
from service.cli.audit_options import FILTERS
from service.config import ConfigError
from service.database import READER_ROLE, SERVICE_ROLE, service_conninfo
from service.event_log.mapper import EventMapper
from service.http.as_of import At

EXIT_CHANGED = 1
EXIT_UNUSABLE = 2
READ_ONLY = {
    "default_transaction_read_only": "on",
    "statement_timeout": "10min",
    "idle_in_transaction_session_timeout": "0",
}


@asynccontextmanager
async def reading_database(database_url: str) -> AsyncIterator[AsyncConnection[Any]]:
    """Connect to read, with as few rights as the login can have."""
    conninfo = service_conninfo(database_url, role="none", **READ_ONLY)
    async with await AsyncConnection.connect(conninfo, autocommit=True) as db:
        for role in (READER_ROLE, SERVICE_ROLE):
            try:
                await db.execute(SQL("SET ROLE {}").format(Identifier(role)))
            except InsufficientPrivilege:
                continue
            break
        yield db


async def write_events(database_url: str, options: argparse.Namespace) -> int:
    """Write the trail to a file or stdout, batch by batch."""
    query = _query(options)
    mapper = EventMapper(AGGREGATES)
    async with reading_database(database_url) as db:
        trail, head = await trail_and_log_end(db)
        filters = await filters_of(db, query, last=head)
        if filters.narrows:
            filters = await filters_of(db, query, last=trail)
        with _output(options.output) as file:
            async for exported in export(
                lambda: nullcontext(db), mapper, filters, options.format
            ):
                file.write(exported.lines)
    return 0


def _query(options: argparse.Namespace) -> TrailQuery:
    given = {name: getattr(options, name) for name in FILTERS}
    try:
        return TrailQuery.model_validate_strings(
            {name: value for name, value in given.items() if value is not None}
        )
    except ValidationError as error:
        faults = [
            f"--{str(each['loc'][0]).replace('_', '-')}: {each['msg']}"
            for each in error.errors(include_input=False)
        ]
        raise ConfigError("; ".join(faults)) from None


async def print_checkpoint(database_url: str, options: argparse.Namespace) -> int:
    """Print the newest checkpoint, or the key to check it with."""
    async with reading_database(database_url) as db:
        checkpoint = await latest_checkpoint(db)
    if checkpoint is None:
        print("no checkpoint has been signed yet", file=sys.stderr)
        return EXIT_CHANGED
    if options.key:
        print(checkpoint.public_key)
    else:
        print(checkpoint.note, end="")
    return 0


async def replay_state(database_url: str, options: argparse.Namespace) -> int:
    """Build the read tables as of a moment and say where they are."""
    mapper = EventMapper(AGGREGATES)
    # Without --into the service's own role builds them, as it does the live ones.
    into = options.into or follower_conninfo(database_url)
    async with (
        reading_database(database_url) as source,
        await AsyncConnection.connect(into, autocommit=True) as target,
    ):
        position = (await past(source, mapper, _moment(options.at))).position
        schema = options.schema or f"replay_{position}"
        await replay(
            source,
            target,
            mapper,
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
    print(f"schema {schema} holds everything as of position {position}")
    return 0


def _print_progress(position: int, target: int) -> None:
    print(f"{position} of {target}", flush=True)


def _moment(text: str) -> int | datetime:
    try:
        moment: int | datetime = TypeAdapter(At).validate_python(text)
    except ValidationError:
        raise ConfigError("--at takes a position or an ISO 8601 time") from None
    return moment


def verify(options: argparse.Namespace) -> int:
    """Hold an export against checkpoints and say what came of it."""
    try:
        keys = [_key(given) for given in options.public_key]
        checkpoints = [
            checkpoint
            for path in _checkpoint_files(options.checkpoint)
            for checkpoint in _checkpoints(path, keys)
        ]
        with _lines(options.export) as exported, _lines(options.earlier) as earlier:
            verdict = verify_export(exported, checkpoints, earlier=earlier)
    except Contradiction as error:
        print(f"the log was signed in two versions: {error}")
        return EXIT_CHANGED
    except (NoteError, OSError, UnreadableEntryError) as error:
        print(f"agent-runtime: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    return _report(verdict)


def _report(verdict: Verdict) -> int:
    if verdict.finding is not None:
        print(f"NOT AS IT WAS: {verdict.finding.words}")
    print(f"{verdict.proven} entries are as they were signed")
    if verdict.finding is not None:
        return EXIT_CHANGED
    if verdict.entries > verdict.proven:
        later = verdict.entries - verdict.proven
        print(f"{later} later ones are not covered by any of the checkpoints")
    return 0


def _key(given: str) -> VerifierKey:
    path = Path(given)
    return VerifierKey.parse(path.read_text("utf-8") if path.is_file() else given)


def _checkpoint_files(given: Iterable[str]) -> Iterator[Path]:
    for each in map(Path, given):
        if each.is_dir():
            yield from sorted(
                file
                for file in each.iterdir()
                if file.is_file() and file.name != PUBLIC_KEY
            )
        else:
            yield each


def _checkpoints(path: Path, keys: Collection[VerifierKey]) -> list[Checkpoint]:
    """Read a file of one checkpoint, or of many as a consumer of Kafka prints them."""
    try:
        notes = notes_in(path.read_text("utf-8"))
        return [Checkpoint.open(note, keys) for note in notes or [""]]
    except (NoteError, UnicodeDecodeError) as error:
        raise NoteError(f"{path}: {error}") from None


@contextmanager
def _lines(path: str | None) -> Iterator[Iterable[bytes]]:
    if path is None:
        yield ()
    elif path == "-":
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as file:
            yield file


@contextmanager
def _output(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with Path(path).open("wb") as file:
            yield file
