"""Decides on model calls: before there is a connection, and again when they leave."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from aiohttp import web

from service.agent_tokens.authenticate import AgentAuthenticator, valid_token
from service.agent_tokens.caller import Caller
from service.errors import ServiceError, UnauthenticatedError
from service.event_log.execute import Decide, execute
from service.event_log.latest import LatestFacts
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.http.authentication import count_refused_token
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.model_gateway.calls.deciding import CallRequest, plan_of_call, secret_of
from service.model_gateway.calls.listing import CallableModel, callable_models
from service.model_gateway.routing.plan import Plan, PlannedTarget
from service.secrets.sent import Credential, NamedSecret
from service.users.tokens import AGENT_PREFIX

API_KEY: Final = "x-api-key"

Decided = TypeVar("Decided")


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The call may be sent to its target once, now, with this secret."""

    secret: NamedSecret | None


class ModelGate:
    """Decides on aggregates of the log."""

    def __init__(self, log: EventLog, key_ring: KeyRing, vault: Vault) -> None:
        self._log = log
        self._vault = vault
        self._authenticator = AgentAuthenticator(log, key_ring.token_hash)

    async def caller(self, request: web.Request, agent_id: UUID) -> Caller:
        """Return who calls, by a token in ``Authorization`` or ``x-api-key``.

        :raises UnauthenticatedError: no token, or none that is valid for this agent
        :raises NotFoundError: the agent is retired
        :raises TooManyRequestsError: too many refused tokens from this address
        """
        header = _authorization(request)
        try:
            return await self._authenticator.authenticate(
                header, agent_id, datetime.now(UTC)
            )
        except UnauthenticatedError:
            count_refused_token(request, header)
            raise

    async def plan(self, call: CallRequest) -> Plan:
        """Return what answers a call, as far as this process knows.

        :raises ServiceError: nothing does, by the log as it is
        """
        try:
            return await plan_of_call(call, LatestFacts(self._log))
        except ServiceError:
            return await self._decided(call, partial(plan_of_call, call))

    async def models(
        self, caller: Caller, dialects: Container[str]
    ) -> Sequence[CallableModel]:
        """Return what the caller may call in one of some dialects, likewise."""
        finder = LatestFacts(self._log)
        return await callable_models(caller.agent_id, dialects, finder)

    async def admit(self, call: CallRequest, target: PlannedTarget) -> Admission | None:
        """Decide on a call by the log as it is, when nothing but it is left to send.

        None if the target isn't one of the call's any more, or goes elsewhere.

        :raises ServiceError: it may not be made any more
        """
        return await self._decided(call, partial(_admit, call, target))

    async def secret(self, target: PlannedTarget) -> NamedSecret | None:
        """Return the secret of a target's calls, as far as this process knows."""
        return await secret_of(target, LatestFacts(self._log))

    def credential(self, secret: NamedSecret) -> Credential:
        return secret.credential(self._vault)

    async def _decided(self, call: CallRequest, decide: Decide[Decided]) -> Decided:
        decided, _ = await execute(
            self._log,
            decide,
            metadata=call.caller.metadata(call.request_id, call.traceparent),
            at=datetime.now(UTC),
        )
        return decided


async def _admit(
    call: CallRequest, target: PlannedTarget, work: UnitOfWork
) -> Admission | None:
    await valid_token(work, call.caller, work.at)
    plan = await plan_of_call(call, work)
    for planned in plan.targets:
        if planned.key == target.key and planned.base_url == target.base_url:
            secret = await secret_of(planned, work)
            needs_one = planned.connection.settings["credential"] is not None
            if needs_one and secret is None:
                return None
            return Admission(secret=secret)
    return None


def presented_token(request: web.Request) -> str:
    """Return the token by which a request was authenticated."""
    return (_authorization(request) or "").rpartition(" ")[2]


def _authorization(request: web.Request) -> str | None:
    """Return the header that names the agent's token.

    Clients of Anthropic's API send ``x-api-key``, some beside an ``Authorization``
    that is for somebody else.
    """
    header = request.headers.get("Authorization")
    key = request.headers.get(API_KEY)
    if key is None or AGENT_PREFIX in (header or ""):
        return header
    return f"Bearer {key}"
