"""Hand a connector over to another owner: commands and handlers.

It takes the consent of both: the owner offers it, and the new owner accepts.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from service.connectors.aggregate import Connector
from service.connectors.commands import visible_connector
from service.connectors.policy import (
    is_offered_ownership,
    may_accept_ownership,
    may_share,
)
from service.errors import ConflictError, ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.users.aggregate import User


class HandOverOutcome(StrEnum):
    """The result of a hand-over, as the answer's message."""

    HANDED_OVER = "connector handed over"
    OFFERED = "connector offered; the new owner has to accept it"
    ALREADY_OWNER = "user already owns the connector"
    WITHDRAWN = "offer withdrawn"
    NOT_OFFERED = "connector was not offered to the user"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverConnector:
    connector_id: UUID
    user_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawOwnershipOffer:
    connector_id: UUID
    user_id: UUID


async def hand_over_connector(
    command: HandOverConnector, work: UnitOfWork
) -> tuple[Connector, HandOverOutcome]:
    """Offer a connector to a user, or accept it; a superuser does both at once.

    :raises NotFoundError: there is no such connector, or none that the caller can
        see; or no such user
    :raises ForbiddenError: the caller is neither its owner nor a superuser, and is
        not the user to whom it is offered
    :raises ConflictError: the user is disabled, and couldn't accept
    """
    connector = await visible_connector(work, command.connector_id)
    accepts = may_accept_ownership(work.principal, connector, command.user_id)
    if not accepts and not may_share(work.principal, connector):
        raise ForbiddenError("only its owner and superusers change this connector")
    user = await work.find(User, command.user_id)
    if user is None:
        raise NotFoundError("no such user")
    work.match(connector)
    if connector.owner_id == str(command.user_id):
        return connector, HandOverOutcome.ALREADY_OWNER
    if user.is_disabled:
        raise ConflictError("this user is disabled", code="user_disabled")
    if accepts:
        connector.hand_over(command.user_id)
    else:
        connector.offer_ownership(command.user_id)
    work.save(connector)
    return connector, (
        HandOverOutcome.HANDED_OVER if accepts else HandOverOutcome.OFFERED
    )


async def withdraw_ownership_offer(
    command: WithdrawOwnershipOffer, work: UnitOfWork
) -> tuple[Connector, HandOverOutcome]:
    """Withdraw or decline the offer of a connector.

    :raises NotFoundError: there is no such connector, or none that the caller can see
    :raises ForbiddenError: as for a hand-over
    """
    connector = await visible_connector(work, command.connector_id)
    declines = (
        is_offered_ownership(work.principal, connector)
        and work.principal.user_id == command.user_id
    )
    if not declines and not may_share(work.principal, connector):
        raise ForbiddenError("only its owner and superusers change this connector")
    work.match(connector)
    changed = connector.withdraw_ownership_offer(command.user_id)
    work.save(connector)
    return connector, (
        HandOverOutcome.WITHDRAWN if changed else HandOverOutcome.NOT_OFFERED
    )
