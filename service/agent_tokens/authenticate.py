"""Authenticate the tokens of agents against the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from weakref import ReferenceType, ref

from cachetools import LRUCache

from service.agent_tokens.aggregate import AgentToken, AgentTokens
from service.agent_tokens.caller import Caller
from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.errors import NotFoundError, UnauthenticatedError
from service.event_log.cache import AggregateCache
from service.event_log.finder import Finder
from service.event_log.log import EventLog
from service.identifiers import id_text
from service.users.aggregate import User, token_id
from service.users.authenticate import (
    PROOFS_MAX,
    TokenHash,
    bearer_token,
    refusal_of,
)
from service.users.tokens import AGENT_PREFIX


class AgentAuthenticator:
    """Reads tokens, users and agents from the log, as far as this process knows it."""

    def __init__(self, log: EventLog, token_hash: TokenHash) -> None:
        self._log = log
        self._token_hash = token_hash
        # By header, and by the number of the agent's id, whose hash is cheaper.
        self._proofs: LRUCache[tuple[str, int], _Proof] = LRUCache(PROOFS_MAX)

    async def authenticate(
        self, header: str | None, agent_id: UUID, at: datetime
    ) -> Caller:
        """Return who calls, by an ``Authorization`` header.

        :raises UnauthenticatedError: the same for a missing, malformed, unknown,
            revoked and expired token, one of another agent, and one that names a
            disabled user
        :raises NotFoundError: the agent is retired
        """
        key = (header or "", agent_id.int)
        proof = self._proofs.get(key)
        if proof is None or not proof.is_current(self._log.cache, at):
            proof = self._proofs[key] = await self._prove(header, agent_id, at)
        return proof.caller

    async def _prove(
        self, header: str | None, agent_id: UUID, at: datetime
    ) -> "_Proof":
        log = self._log
        identifier = token_id(self._token_hash(bearer_token(header, AGENT_PREFIX)))
        tokens = await log.load(AgentTokens.create_id(id_text(agent_id)))
        issued = tokens.token(identifier) if isinstance(tokens, AgentTokens) else None
        if tokens is None or issued is None or not issued.is_valid(at):
            raise refusal_of(header)
        user_id = issued.user_id
        user = await log.load(user_id) if user_id is not None else None
        if user_id is not None and not _is_active(user):
            raise refusal_of(header)
        agent = await log.load(agent_id)
        if not isinstance(agent, Agent) or agent.is_retired:
            raise NotFoundError("no such agent")
        return _Proof(
            token=issued,
            read=[ref(each) for each in (tokens, user, agent) if each is not None],
            caller=Caller(agent_id=agent_id, token_id=identifier, user_id=user_id),
        )


@dataclass(frozen=True, slots=True)
class _Proof:
    """The caller of a header; valid while what was read are the current aggregates.

    The references are weak: what leaves the log's cache is to leave memory.
    """

    token: AgentToken
    read: Sequence[ReferenceType[LoggedAggregate]]
    caller: Caller

    def is_current(self, cache: AggregateCache, at: datetime) -> bool:
        return self.token.is_valid(at) and all(
            (read := each()) is not None and cache.get(read.id) is read
            for each in self.read
        )


async def valid_token(finder: Finder, caller: Caller, at: datetime) -> AgentToken:
    """Return the caller's token, as a fact of the decision that is being made.

    :raises UnauthenticatedError: it is no longer valid
    """
    tokens = await finder.find(
        AgentTokens, AgentTokens.create_id(id_text(caller.agent_id))
    )
    issued = tokens.token(caller.token_id) if tokens else None
    if issued is None or not issued.is_valid(at) or issued.user_id != caller.user_id:
        raise refused_token()
    if issued.user_id is not None and not _is_active(
        await finder.find(User, issued.user_id)
    ):
        raise refused_token()
    return issued


def refused_token() -> UnauthenticatedError:
    return refusal_of("")


def _is_active(user: object) -> bool:
    return isinstance(user, User) and not user.is_disabled
