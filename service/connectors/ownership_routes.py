"""Handing a connector over to another owner, over HTTP."""

from typing import Final
from uuid import UUID

from aiohttp import web

from service.connectors.aggregate import Connector
from service.connectors.ownership_commands import (
    HandOverConnector,
    HandOverOutcome,
    WithdrawOwnershipOffer,
    hand_over_connector,
    withdraw_ownership_offer,
)
from service.connectors.resource import ConnectorResource, connector_resource
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes

routes = Routes("mcp")

PATH: Final = "/api/mcp/connectors/{id}/owner/{user_id}"
FORBIDDEN: Final = (
    "the caller is neither its owner nor a superuser, and it isn't offered to them"
)


@routes.put(
    PATH,
    answers={
        200: "connector handed over, or user already owns the connector",
        202: HandOverOutcome.OFFERED.value,
        403: FORBIDDEN,
        404: "no such connector, or none that the caller can see; or no such user",
        409: "the user is disabled (`user_disabled`)",
    },
    if_match=True,
)
async def put_connector_owner(
    request: web.Request,
    id: UUID,  # noqa: A002
    user_id: UUID,
) -> Answer[ConnectorResource]:
    """Hand a connector over to another owner.

    Its owner offers it, which replaces an earlier offer; the user accepts by the same
    call. A superuser hands it over at once. Grants, rules and publication remain. The
    new owner's secret is sent only for grants that they, or a superuser, make or
    repeat.
    """
    return await dispatch(
        request,
        hand_over_connector,
        HandOverConnector(connector_id=id, user_id=user_id),
        lambda result: _owner_answer(*result),
    )


@routes.delete(
    PATH,
    answers={
        200: "offer withdrawn, or connector was not offered to the user",
        403: FORBIDDEN,
        404: "no such connector, or none that the caller can see",
    },
    if_match=True,
)
async def delete_connector_owner_offer(
    request: web.Request,
    id: UUID,  # noqa: A002
    user_id: UUID,
) -> Answer[ConnectorResource]:
    """Withdraw or decline the offer of a connector.

    For its owner, superusers, and the user to whom it is offered.
    """
    return await dispatch(
        request,
        withdraw_ownership_offer,
        WithdrawOwnershipOffer(connector_id=id, user_id=user_id),
        lambda result: _owner_answer(*result),
    )


def _owner_answer(
    connector: Connector, outcome: HandOverOutcome
) -> Answer[ConnectorResource]:
    return Answer(
        status=202 if outcome is HandOverOutcome.OFFERED else 200,
        message=outcome.value,
        data=connector_resource(connector),
        etag=connector.version,
    )
