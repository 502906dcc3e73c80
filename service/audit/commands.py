"""Record reads of history and of session texts: commands and handlers."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.audit.aggregate import AuditReading, TextReading
from service.audit.policy import may_read_history
from service.errors import ForbiddenError
from service.event_log.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHistory:
    """One request, export or stream, whatever its length."""

    operation: str
    asked: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTexts:
    """``sessions`` is the id of each session to its user."""

    operation: str
    sessions: Mapping[str, str]


async def read_history(command: ReadHistory, work: UnitOfWork) -> None:
    """Record that history is about to be read.

    :raises ForbiddenError: the caller is neither superuser nor auditor
    """
    if not may_read_history(work.principal):
        raise ForbiddenError("only superusers and auditors read the history")
    work.save(AuditReading(operation=command.operation, asked=dict(command.asked)))


async def read_texts(command: ReadTexts, work: UnitOfWork) -> None:
    """Record that texts of sessions are about to be read; the caller may see them."""
    work.save(TextReading(operation=command.operation, sessions=dict(command.sessions)))
