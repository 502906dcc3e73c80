"""Record a read of history: command and handler."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.audit.aggregate import AuditReading
from service.audit.policy import may_read_history
from service.errors import ForbiddenError
from service.event_log.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHistory:
    """One request, export or stream, whatever its length."""

    operation: str
    asked: Mapping[str, str]


async def read_history(command: ReadHistory, work: UnitOfWork) -> None:
    """Record that history is about to be read.

    :raises ForbiddenError: the caller is neither superuser nor auditor
    """
    if not may_read_history(work.principal):
        raise ForbiddenError("history is read by superusers and auditors")
    work.save(AuditReading(operation=command.operation, asked=dict(command.asked)))
