"""Grants of connectors to agents over HTTP."""

from typing import Final
from uuid import UUID

from aiohttp import web

from service.connectors.aggregate import Connector
from service.connectors.grant_commands import (
    GrantConnector,
    GrantOutcome,
    RevokeGrant,
    grant_connector,
    revoke_grant,
)
from service.connectors.resource import GrantResource, grant_resource
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes

routes = Routes("mcp")

PATH: Final = "/api/mcp/connectors/{id}/grants/agents/{agent_id}"
REFUSALS: Final = {
    403: "the caller neither owns the connector nor manages the agent, whether or "
    "not it exists",
    404: "no such connector, or none that the caller can see; or no such agent",
}
STATUS: Final = {
    GrantOutcome.GRANTED: 201,
    GrantOutcome.AWAITS_AGENT: 202,
    GrantOutcome.AWAITS_CONNECTOR: 202,
}


@routes.put(
    PATH,
    answers={
        200: "connector was already granted to the agent, or its own side has now "
        "consented to what being public, or a former owner, had granted",
        201: GrantOutcome.GRANTED.value,
        202: "grant offered; the other side has to accept it",
        409: "the connector has the maximum number of grants and offers "
        "(`limit_reached`), or the agent is retired (`agent_retired`)",
        **REFUSALS,
    },
    if_match=True,
)
async def put_agent_grant(
    request: web.Request,
    id: UUID,  # noqa: A002
    agent_id: UUID,
) -> Answer[GrantResource]:
    """Grant a connector to an agent.

    A grant needs two consents: that of the connector, given by its owner, by a
    superuser or by being public, and that of the agent, given by a user with full
    management. A caller who can give both grants at once. A caller who can give one
    makes an offer; the other side accepts it by the same call. The owner's secret is
    sent only for grants to which the connector's owner or a superuser has consented,
    by this call, before or after being public did, and since the last hand-over.
    """
    return await dispatch(
        request,
        grant_connector,
        GrantConnector(connector_id=id, agent_id=agent_id),
        lambda result: _grant_answer(*result, agent_id),
    )


@routes.delete(
    PATH,
    answers={
        200: "grant revoked, offer of a grant withdrawn, or connector was not granted "
        "to the agent",
        **REFUSALS,
    },
    if_match=True,
)
async def delete_agent_grant(
    request: web.Request,
    id: UUID,  # noqa: A002
    agent_id: UUID,
) -> Answer[GrantResource]:
    """Revoke a grant or an offer.

    Either side can revoke. From then on the agent's rules for this connector have no
    effect.
    """
    return await dispatch(
        request,
        revoke_grant,
        RevokeGrant(connector_id=id, agent_id=agent_id),
        lambda result: _grant_answer(*result, agent_id),
    )


def _grant_answer(
    connector: Connector, outcome: GrantOutcome, agent_id: UUID
) -> Answer[GrantResource]:
    return Answer(
        status=STATUS.get(outcome, 200),
        message=outcome.value,
        data=grant_resource(connector, agent_id),
        etag=connector.version,
    )
