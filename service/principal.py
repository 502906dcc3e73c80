"""The caller of a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from uuid import UUID


class Role(StrEnum):
    """A permission beyond a user's own resources.

    A superuser may do everything except read other users' secret values; an auditor
    reads history and lists and changes nothing; a runtime records sessions of any
    agent.
    """

    SUPERUSER = "superuser"
    AUDITOR = "auditor"
    RUNTIME = "runtime"


@dataclass(frozen=True, kw_only=True)
class Principal:
    """The user whom a token identifies.

    ``facts`` are the versions of the aggregates that this was read from; a command
    is checked against them when it is appended, so that a token revoked in between
    can't be used.
    """

    user_id: UUID
    roles: frozenset[str] = frozenset()
    token_id: UUID | None = None
    facts: Mapping[UUID, int] = field(default_factory=dict, repr=False)

    @cached_property
    def metadata(self) -> Mapping[str, str]:
        """The event metadata that names this caller."""
        return {"actor": str(self.user_id), "token": str(self.token_id)}

    @property
    def is_superuser(self) -> bool:
        return Role.SUPERUSER in self.roles

    @property
    def is_auditor(self) -> bool:
        return Role.AUDITOR in self.roles

    @property
    def is_runtime(self) -> bool:
        return Role.RUNTIME in self.roles

    @property
    def sees_everything(self) -> bool:
        """Whether lists and history are not limited to the caller's own."""
        return self.is_superuser or self.is_auditor
