"""How long a request waits, and for what; each is a setting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from typing import Final

from pydantic import Field

from service.errors import RETRY_LATER, UnavailableError
from service.settings import SettingGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """The longest waits of a request, in seconds.

    ``connection_s``: for one of this process's connections to the database.
    ``lock_s``: for a lock that another session of the database holds.
    ``statement_s``: for the end of a statement.
    ``commit_s``: for other commands, each time: those before it in the queue, those
    that change the same resource, and for standbys to have what they committed.
    ``position_s``: for the read tables to reach a position of the log.
    ``body_s``: for the end of a body that has begun.
    ``root_key_s``: for the program that holds the root keys.
    ``trace_store_s``: for a page with what a trace store has of it.
    """

    connection_s: float = 2.0
    lock_s: float = 2.0
    statement_s: float = 5.0
    commit_s: float = 5.0
    position_s: float = 2.0
    body_s: float = 30.0
    root_key_s: float = 2.0
    trace_store_s: float = 2.0

    @property
    def silence_s(self) -> float:
        """How long the database may send nothing.

        Twice what a statement may take: a server that exceeds it doesn't run, or can't
        be reached, and its kernel may still acknowledge what it is sent.
        """
        return 2 * self.statement_s


_WAITS: Final = Waits()


class WaitConfig(SettingGroup):
    """How long requests wait, and for what; a request may have several such waits."""

    TITLE = "waits"

    wait_connection_s: float = Field(
        _WAITS.connection_s,
        ge=0.1,
        le=60,
        description="How long a request waits for one of this process's connections to "
        "the database, in seconds; then it gets 503 database_busy.",
    )
    wait_lock_s: float = Field(
        _WAITS.lock_s,
        ge=0.1,
        le=60,
        description="How long a statement waits for a lock of another session of the "
        "database, in seconds; then its request gets 503 database_locked.",
    )
    wait_statement_s: float = Field(
        _WAITS.statement_s,
        ge=0.1,
        le=60,
        description="How long a statement may take in the database, in seconds; then "
        "its request gets 503 database_slow. After twice as long without any answer "
        "the connection is given up.",
    )
    wait_commit_s: float = Field(
        _WAITS.commit_s,
        ge=0.1,
        le=60,
        description="How long a command waits for those before it, in seconds; then it "
        "gets 503 overloaded. So long it also waits for standbys, before 503 "
        "not_replicated, and for the outcome of a commit whose connection was lost.",
    )
    wait_position_s: float = Field(
        _WAITS.position_s,
        ge=0,
        le=60,
        description="How long a read waits for the position that X-Min-Position names, "
        "in seconds; then it gets 503 position_not_reached.",
    )
    wait_body_s: float = Field(
        _WAITS.body_s,
        ge=1,
        le=600,
        description="How long a body may take to arrive, in seconds, a price list "
        "twice as long; then the request gets 503 upload_too_slow.",
    )
    wait_root_key_s: float = Field(
        _WAITS.root_key_s,
        ge=0.1,
        le=60,
        description="How long a request waits for --root-keys-program, in seconds; "
        "then it gets 503 root_key_unavailable.",
    )
    wait_trace_store_s: float = Field(
        _WAITS.trace_store_s,
        ge=0.1,
        le=60,
        description="How long a list of sessions may take with what the trace store "
        "has of it, in seconds; then it comes without.",
    )

    @property
    def waits(self) -> Waits:
        return Waits(
            **{each.name: getattr(self, f"wait_{each.name}") for each in fields(Waits)}
        )


@asynccontextmanager
async def holding(
    lock: asyncio.Lock | asyncio.Semaphore, wait_s: float, others: str
) -> AsyncIterator[None]:
    """Hold a lock until the block ends; ``others`` says who else holds it.

    :raises UnavailableError: it isn't free in time
    """
    try:
        async with asyncio.timeout(wait_s):
            await lock.acquire()
    except TimeoutError:
        raise UnavailableError(
            f"{others} took more than {wait_s:g} s; nothing was changed; please retry",
            code="overloaded",
            headers=RETRY_LATER,
        ) from None
    try:
        yield
    finally:
        lock.release()
