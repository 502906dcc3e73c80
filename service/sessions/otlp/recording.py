"""Record the turns of traces in their sessions."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Final
from uuid import UUID

from service.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    ServiceError,
    UnavailableError,
)
from service.event_log.execute import Authenticate, execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.keys.vault import Vault
from service.pacing import Pace, next_turn
from service.principal import Principal
from service.sessions.aggregate import ChatSession
from service.sessions.commands import SESSION_FULL, ReportTurns, report_turns
from service.sessions.otlp.pending import TraceKey
from service.sessions.otlp.sealing import opened_text, opened_texts
from service.sessions.otlp.trace import TraceTurn
from service.sessions.turn import Texts, Turn, problems_of

_Turns = dict[TraceKey, TraceTurn]

NO_TEXTS: Final = Texts()
# In one command; further turns go into the next one.
TURNS_MAX: Final = 50
# More share one commit of the log; each holds a connection while it loads.
COMMANDS_AT_ONCE: Final = 32
REFUSALS: Final = (ConflictError, ForbiddenError, InvalidRequestError, NotFoundError)


@dataclass(slots=True, kw_only=True)
class Recording:
    """The caller and the log; ``position`` is that of the last recorded event.

    ``authenticate`` reads the caller again for each decision.
    """

    log: CommandLog
    vault: Vault
    principal: Principal
    authenticate: Authenticate
    metadata: Mapping[str, str]
    position: int | None = None


@dataclass(frozen=True, slots=True)
class _Session:
    """The session of one command's turns."""

    agent_id: UUID
    session_id: str
    user_id: str | None


async def record_trace_turns(
    turns: _Turns, recording: Recording
) -> dict[TraceKey, ServiceError]:
    """Take turns out of ``turns``, record them, and return the errors of rejected ones.

    :raises UnavailableError: the log can't be written
    """
    rejected: dict[TraceKey, ServiceError] = {}

    async def record(commands: deque[tuple[_Session, _Turns]]) -> None:
        while commands:
            session, some = commands.popleft()
            if commands:
                # A commit of the log ends many of them at once.
                await next_turn()
            rejected.update(await _record_or_reject(session, some, recording))

    for commands in await _commands(turns, rejected):
        ended = await asyncio.gather(
            *(record(commands) for _ in range(min(len(commands), COMMANDS_AT_ONCE))),
            return_exceptions=True,
        )
        # Raised only when all commands have ended: none continues after the answer.
        for error in ended:
            if error is not None:
                raise error
    return rejected


async def _commands(
    turns: _Turns, rejected: dict[TraceKey, ServiceError]
) -> tuple[deque[tuple[_Session, _Turns]], ...]:
    """Take turns out of ``turns``, divided by session into what one command records.

    Those that name a user come first: a new session belongs to the user whom one of its
    traces names, if any does.
    """
    named: deque[tuple[_Session, _Turns]] = deque()
    others: deque[tuple[_Session, _Turns]] = deque()
    last: dict[_Session, _Turns] = {}
    now = datetime.now(UTC)
    pace = Pace()
    for key in list(turns):
        await pace.pause()
        turn = turns.pop(key)
        problems = problems_of(_turn(turn), now=now)
        if problems:
            text = "; ".join(f"{found.path} {found.message}" for found in problems)
            rejected[key] = InvalidRequestError(f"the turn is not valid: {text}")
            continue
        session = _Session(key.agent_id, turn.session_id, turn.entry.user_id)
        if session not in last or len(last[session]) == TURNS_MAX:
            last[session] = {}
            commands = named if session.user_id is not None else others
            commands.append((session, last[session]))
        last[session][key] = turn
    return named, others


async def _record_or_reject(
    session: _Session, turns: Mapping[TraceKey, TraceTurn], recording: Recording
) -> dict[TraceKey, ServiceError]:
    try:
        await _record(session, turns, recording)
    except REFUSALS as error:
        refusal = error
    else:
        return {}
    if refusal.code == SESSION_FULL:
        fitting = await _fitting(session, turns, recording)
        if 0 < len(fitting) < len(turns):
            rejected = dict.fromkeys(turns.keys() - fitting.keys(), refusal)
            return rejected | await _record_or_reject(session, fitting, recording)
    return dict.fromkeys(turns, refusal)


async def _fitting(
    session: _Session, turns: Mapping[TraceKey, TraceTurn], recording: Recording
) -> dict[TraceKey, TraceTurn]:
    """Return the turns for which a session has room: all that it knows, and some."""
    chat = await recording.log.load(ChatSession.create_id(session.session_id))
    if not isinstance(chat, ChatSession):
        return {}
    known = {key: turn for key, turn in turns.items() if chat.has_turn(turn.trace_id)}
    others = ((key, turn) for key, turn in turns.items() if key not in known)
    return known | dict(islice(others, chat.room))


async def _record(
    session: _Session, turns: Mapping[TraceKey, TraceTurn], recording: Recording
) -> None:
    vault = recording.vault
    opened = []
    pace = Pace()
    for key, turn in turns.items():
        if not await _is_of_another(turn, session, recording.log):
            opened.append(_turn(turn, await _texts(turn, key, vault)))
        await pace.pause()
    if not opened:
        return

    async def decide(work: UnitOfWork) -> None:
        await report_turns(
            ReportTurns(
                session_id=session.session_id,
                agent_id=session.agent_id,
                user_id=UUID(session.user_id) if session.user_id else None,
                turns=opened,
            ),
            work,
            vault,
        )

    try:
        _, appended = await execute(
            recording.log,
            decide,
            metadata=recording.metadata,
            at=datetime.now(UTC),
            authenticate=recording.authenticate,
        )
    except ConflictError as error:
        if error.code == "too_many_conflicts":
            raise UnavailableError(error.message, headers=error.headers) from None
        raise
    if appended is not None and appended.position is not None:
        recording.position = max(recording.position or 0, appended.position)


async def _is_of_another(turn: TraceTurn, session: _Session, log: CommandLog) -> bool:
    """Return whether spans that were deleted made it a turn of another session."""

    async def has_it(name: str) -> bool:
        found = await log.load(ChatSession.create_id(name))
        return (
            isinstance(found, ChatSession)
            and found.agent_id == str(session.agent_id)
            and found.from_spans(turn.trace_id) is not None
        )

    # Its spans may name thousands of others; most often it is amended.
    if not turn.other_sessions or await has_it(session.session_id):
        return False
    for name in turn.other_sessions:
        if await has_it(name):
            return True
    return False


async def _texts(turn: TraceTurn, key: TraceKey, vault: Vault) -> Texts:
    """Return the texts of a turn's first span, or else those of its other spans."""
    found = await opened_texts(turn.entry, key, turn.entry_span_id, vault)
    if found.input is None:
        given = await opened_text(turn.texts.input, "input", key, vault)
        found = replace(found, input=given)
    if found.output is None:
        output = await opened_text(turn.texts.output, "output", key, vault)
        found = replace(found, output=output)
    return found


def _turn(turn: TraceTurn, texts: Texts = NO_TEXTS) -> Turn:
    main = turn.main_share
    return Turn(
        turn_id=turn.trace_id,
        trace_id=turn.trace_id,
        started_at=turn.started_at,
        ended_at=turn.ended_at,
        provider=main.provider if main else None,
        model=main.model if main else None,
        tokens=turn.tokens,
        is_error=turn.entry.is_error,
        texts=texts,
        shares=turn.shares,
        spans=turn.spans,
        kept_since=turn.kept_since,
    )
