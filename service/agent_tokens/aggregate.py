"""The tokens of one agent."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from eventsourcing.domain import event
from typing_extensions import TypedDict

from service.aggregate import LoggedAggregate
from service.errors import ConflictError
from service.events import Id, Named, Published, Time
from service.identifiers import id_text, named_id

TOKENS_MAX = 100


class KeptToken(TypedDict):
    """What the state holds of a token that was not revoked."""

    user_id: str | None
    issued_by: str
    label: str
    issued_at: str
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class AgentToken:
    """A token that was not revoked; it may have expired.

    ``of_version``: the version of the agent's tokens that this was read from. Ids and
    times are parsed when asked for: a call needs hardly any of them.
    """

    token_id: UUID
    kept: KeptToken
    of_version: int

    @property
    def user_id(self) -> UUID | None:
        return UUID(self.kept["user_id"]) if self.kept["user_id"] else None

    @property
    def issued_by(self) -> UUID:
        return UUID(self.kept["issued_by"])

    @property
    def label(self) -> str:
        return self.kept["label"]

    @property
    def issued_at(self) -> datetime:
        return datetime.fromisoformat(self.kept["issued_at"])

    @property
    def expires_at(self) -> datetime | None:
        expires_at = self.kept["expires_at"]
        return datetime.fromisoformat(expires_at) if expires_at else None

    def is_valid(self, at: datetime) -> bool:
        expires_at = self.expires_at
        return expires_at is None or at < expires_at


class AgentTokens(LoggedAggregate):
    """The tokens by which one agent calls tools; created with the first of them.

    Each is known only by its id, a keyed hash of it. It proves the agent, and the user
    for whom the agent calls where it names one.
    """

    class Created(LoggedAggregate.Created):
        """An agent gets its first token; the next event says which.

        Emitted by ``POST /api/mcp/agents/{agent_id}/tokens``.
        """

        TOPIC = "agent_tokens.created"
        agent_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return f"began the tokens of agent {named(self.agent_id)}, with none"

    class Issued(LoggedAggregate.Event):
        """A token lets this agent call its tools, for this user where it names one.

        ``token_id`` is a keyed hash of the token. A token without ``expires_at`` is
        valid until it is revoked. ``dropped`` are tokens that have expired and no
        longer count towards the limit.

        Emitted by ``POST /api/mcp/agents/{agent_id}/tokens``.
        """

        TOPIC = "agent_tokens.issued"
        agent_id: Published[Id]
        token_id: str
        user_id: Published[Id | None]
        issued_by: Published[Id]
        label: Published[str]
        issued_at: Published[Time]
        expires_at: Published[Time | None]
        dropped: list[str]

        def sentence(self, named: Named) -> str:
            whose = f" for {named(self.user_id)}" if self.user_id else ""
            until = f", valid until {self.expires_at}" if self.expires_at else ""
            return (
                f"issued a token to agent {named(self.agent_id)}{whose}, "
                f"{self.label!r}{until}"
            )

        def apply(self, aggregate: "AgentTokens") -> None:
            kept = {
                each: old
                for each, old in aggregate.kept.items()
                if each not in self.dropped
            }
            kept[self.token_id] = KeptToken(
                user_id=self.user_id,
                issued_by=self.issued_by,
                label=self.label,
                issued_at=self.issued_at,
                expires_at=self.expires_at,
            )
            aggregate.kept = kept

    class Revoked(LoggedAggregate.Event):
        """A token of the agent was revoked: no call is admitted with it any more.

        Emitted by ``DELETE /api/mcp/agents/{agent_id}/tokens/{agent_token_id}``.
        """

        TOPIC = "agent_tokens.revoked"
        agent_id: Published[Id]
        token_id: str

        def sentence(self, named: Named) -> str:
            return (
                f"revoked the token {named(self.token_id)} of agent "
                f"{named(self.agent_id)}"
            )

        def apply(self, aggregate: "AgentTokens") -> None:
            aggregate.kept = {
                each: kept
                for each, kept in aggregate.kept.items()
                if each != self.token_id
            }

    TOPIC = "agent_tokens"

    @staticmethod
    def create_id(agent_id: str) -> UUID:
        return named_id("agent_tokens", agent_id)

    @event(Created)
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.kept: dict[str, KeptToken] = {}

    def token(self, token_id: UUID) -> AgentToken | None:
        """Return a token; None for an unknown and for a revoked one."""
        kept = self.kept.get(id_text(token_id))
        return AgentToken(token_id, kept, self.version) if kept else None

    @property
    def tokens(self) -> list[AgentToken]:
        """The tokens that were not revoked, in the order of their issue."""
        return [
            AgentToken(UUID(each), kept, self.version)
            for each, kept in self.kept.items()
        ]

    def issue(
        self,
        token_id: UUID,
        *,
        user_id: UUID | None,
        by: UUID,
        label: str,
        expires_at: datetime | None,
        at: datetime,
    ) -> AgentToken:
        """Add a token; expired ones no longer count once there are many.

        :raises ConflictError: the agent has ``TOKENS_MAX`` of them
        """
        dropped: list[str] = []
        if len(self.kept) >= TOKENS_MAX:
            dropped = [
                str(each.token_id) for each in self.tokens if not each.is_valid(at)
            ]
        if len(self.kept) - len(dropped) >= TOKENS_MAX:
            raise ConflictError(
                f"an agent has at most {TOKENS_MAX} valid tokens; revoke one first",
                code="limit_reached",
            )
        self.trigger_event(
            self.Issued,
            agent_id=self.agent_id,
            token_id=str(token_id),
            user_id=str(user_id) if user_id else None,
            issued_by=str(by),
            label=label,
            issued_at=at.isoformat(),
            expires_at=expires_at.isoformat() if expires_at else None,
            dropped=dropped,
        )
        return AgentToken(token_id, self.kept[str(token_id)], self.version)

    def revoke(self, token_id: UUID) -> bool:
        """Revoke a token and return whether there was one."""
        if str(token_id) not in self.kept:
            return False
        self.trigger_event(self.Revoked, agent_id=self.agent_id, token_id=str(token_id))
        return True
