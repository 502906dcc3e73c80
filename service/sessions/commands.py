"""Commands on sessions, with their authorization."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.agents.aggregate import Agent
from service.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork
from service.keys.vault import Vault
from service.pacing import Pace
from service.sessions.aggregate import TURNS_MAX, ChatSession
from service.sessions.clocks import ahead_of_clock
from service.sessions.cost import charge_of_turn
from service.sessions.metrics import count_turn
from service.sessions.policy import may_record, may_see, records_for_anyone
from service.sessions.sealing import sealed_texts
from service.sessions.turn import Turn, problems_of
from service.users.aggregate import User

SESSION_FULL = "session_full"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSession:
    """``user_id`` None means the caller, ``started_at`` None means now."""

    session_id: str
    agent_id: UUID
    user_id: UUID | None = None
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTurns:
    session_id: str
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTurns:
    """Turns of a session that may not have been started yet.

    ``user_id`` None means the session's user, or the caller for a new session.
    """

    session_id: str
    agent_id: UUID
    user_id: UUID | None = None
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSession:
    session_id: str
    ended_at: datetime | None = None


async def start_session(
    command: StartSession, work: UnitOfWork
) -> tuple[ChatSession, bool]:
    """Start a session and return it, and whether it is new.

    Starting it again for the same agent and user changes nothing.

    :raises ForbiddenError: the caller may not record for this agent and user; the
        same for an agent that doesn't exist
    :raises InvalidRequestError: no such agent or user, to a caller who may record
        for any; or a start in the future
    :raises ConflictError: the id belongs to a session of another agent or user
    """
    user_id = command.user_id or work.principal.user_id
    await _authorize_start(work, command, user_id)
    started_at = command.started_at or work.at
    if problem := ahead_of_clock(started_at, work.at):
        raise _invalid("started_at", problem)
    session_id = ChatSession.create_id(command.session_id)
    session = await work.find(ChatSession, session_id)
    if session is not None:
        if (session.agent_id, session.user_id) != (str(command.agent_id), str(user_id)):
            raise ConflictError(
                "this session id is taken by another agent or user",
                code="session_id_taken",
            )
        return session, False
    session = ChatSession(
        session_id=command.session_id,
        agent_id=str(command.agent_id),
        user_id=str(user_id),
        started_at=started_at.isoformat(),
    )
    work.save(session)
    return session, True


async def record_turns(
    command: RecordTurns, work: UnitOfWork, vault: Vault
) -> tuple[ChatSession, list[bool]]:
    """Record turns, all or none, and return for each whether anything changed.

    A known turn stays as first reported, unless it was made from spans that are still
    kept and now has more of them. Turns may arrive in any order, also after the end. If
    the user's key was destroyed, turns are recorded without their texts.

    :raises NotFoundError: no such session, or none that the caller can see
    :raises ForbiddenError: the caller may not record in this session
    :raises InvalidRequestError: an invalid turn, such as one in the future
    :raises ConflictError: the session has the maximum number of turns
    """
    session = await _recordable(work, command.session_id)
    changes = []
    pace = Pace()
    for turn in command.turns:
        await pace.pause()
        problems = problems_of(turn, now=work.at)
        if problems:
            raise InvalidRequestError("the turn is not valid", problems=problems)
        if not session.accepts(turn) or await _lacks_spans(turn, session, work):
            changes.append(False)
            continue
        if not session.room and not session.has_turn(turn.turn_id):
            raise ConflictError(
                f"a session has at most {TURNS_MAX} turns", code=SESSION_FULL
            )
        texts = await sealed_texts(turn.texts, session, vault)
        charge, shares = await charge_of_turn(turn, work)
        changed = session.record_turn(turn, texts, charge, shares)
        changes.append(changed)
        count_turn(turn, charge)
        # One by one: encoding all their texts would hold the event loop.
        work.save(session)
    return session, changes


async def report_turns(
    command: ReportTurns, work: UnitOfWork, vault: Vault
) -> tuple[ChatSession, list[bool]]:
    """Record turns, and start their session with the earliest if it doesn't exist.

    Raises the same errors as :func:`start_session` and :func:`record_turns`.
    """
    session = await work.find(ChatSession, ChatSession.create_id(command.session_id))
    user_id = command.user_id
    if user_id is None and session is not None:
        user_id = UUID(session.user_id)
    await start_session(
        StartSession(
            session_id=command.session_id,
            agent_id=command.agent_id,
            user_id=user_id,
            started_at=min(turn.started_at for turn in command.turns),
        ),
        work,
    )
    return await record_turns(
        RecordTurns(session_id=command.session_id, turns=command.turns), work, vault
    )


async def end_session(
    command: EndSession, work: UnitOfWork
) -> tuple[ChatSession, bool]:
    """End a session and return it, and whether it was running.

    :raises NotFoundError: no such session, or none that the caller can see
    :raises ForbiddenError: the caller may not record in this session
    :raises InvalidRequestError: an end before the start, or in the future
    """
    session = await _recordable(work, command.session_id)
    ended_at = command.ended_at or max(
        work.at, datetime.fromisoformat(session.started_at)
    )
    if ended_at < datetime.fromisoformat(session.started_at):
        raise _invalid("ended_at", "is before the session's start")
    if problem := ahead_of_clock(ended_at, work.at):
        raise _invalid("ended_at", problem)
    changed = session.end(at=ended_at)
    work.save(session)
    return session, changed


async def _authorize_start(
    work: UnitOfWork, command: StartSession, user_id: UUID
) -> None:
    agent = await work.find(Agent, command.agent_id)
    if records_for_anyone(work.principal):
        if agent is None:
            raise _invalid("agent_id", "no such agent")
        is_another = user_id != work.principal.user_id
        if is_another and await work.find(User, user_id) is None:
            raise _invalid("user_id", "no such user")
    elif agent is None or not may_record(work.principal, agent, user_id):
        raise ForbiddenError(
            "only a manager of the agent may record sessions, and only their own"
        )


async def _recordable(work: UnitOfWork, session_id: str) -> ChatSession:
    session = await work.find(ChatSession, ChatSession.create_id(session_id))
    if session is None:
        raise NotFoundError("no such session")
    if records_for_anyone(work.principal):
        return session
    agent = await work.load(Agent, UUID(session.agent_id))
    manages_agent = agent.is_managed_by(work.principal.user_id)
    if not may_see(work.principal, session, manages_agent=manages_agent):
        raise NotFoundError("no such session")
    if not may_record(work.principal, agent, UUID(session.user_id)):
        raise ForbiddenError(
            "only a manager of the agent may record sessions, and only their own"
        )
    return session


async def _lacks_spans(turn: Turn, session: ChatSession, work: UnitOfWork) -> bool:
    """Return whether the known turn has spans that were deleted before these came."""
    known = session.from_spans(turn.turn_id)
    if known is None or turn.kept_since is None:
        return False
    position = await work.position_of(session.id, known.version)
    return position is not None and position <= turn.kept_since


def _invalid(path: str, message: str) -> InvalidRequestError:
    return InvalidRequestError(
        "the body is not valid", problems=[Problem(path, message)]
    )
