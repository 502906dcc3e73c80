"""The events of a connector, but for its registration."""

from typing import Any

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, Time, differences

# Sides of a grant; it takes the consent of both.
CONNECTOR_SIDE = "connector"
AGENT_SIDE = "agent"


class Edited(LoggedAggregate.Event):
    """The connector has this name, URL and description from now on.

    Emitted by ``PUT /api/mcp/connectors/{id}``.
    """

    TOPIC = "connector.edited"
    name: Published[str]
    url: Published[str]
    description: Published[str]
    previous_name: Published[str]
    previous_url: Published[str]
    previous_description: Published[str]

    def sentence(self, named: Named) -> str:
        return f"edited the connector {self.subject(named)}: " + differences(
            ("name", self.previous_name, self.name),
            ("URL", self.previous_url, self.url),
            ("description", self.previous_description, self.description),
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.name = self.name
        aggregate.url = self.url
        aggregate.description = self.description


class OwnershipOffered(LoggedAggregate.Event):
    """The connector was offered to a new owner, who has not accepted yet.

    It replaces an earlier offer.

    Emitted by ``PUT /api/mcp/connectors/{id}/owner/{user_id}``.
    """

    TOPIC = "connector.ownership_offered"
    user_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return (
            f"offered the connector {self.subject(named)} to {named(self.user_id)} "
            "as its new owner"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.offered_owner_id = self.user_id


class OwnershipOfferWithdrawn(LoggedAggregate.Event):
    """The offer to a new owner was withdrawn or declined.

    Emitted by ``DELETE /api/mcp/connectors/{id}/owner/{user_id}``.
    """

    TOPIC = "connector.ownership_offer_withdrawn"
    user_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return (
            f"ended the offer of the connector {self.subject(named)} "
            f"to {named(self.user_id)} as its new owner"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.offered_owner_id = None


class HandedOver(LoggedAggregate.Event):
    """The connector has another owner; grants and publication remain.

    The new owner's secret is sent only for grants to which their side consents anew.

    Emitted by ``PUT /api/mcp/connectors/{id}/owner/{user_id}``.
    """

    TOPIC = "connector.handed_over"
    owner_id: Published[Id]
    previous_owner_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return (
            f"handed the connector {self.subject(named)} over from "
            f"{named(self.previous_owner_id)} to {named(self.owner_id)}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.owner_id = self.owner_id
        aggregate.offered_owner_id = None
        aggregate.not_lent = [
            *aggregate.granted_to,
            *(
                agent
                for agent, side in aggregate.offers.items()
                if side == CONNECTOR_SIDE
            ),
        ]


class MadePublic(LoggedAggregate.Event):
    """The connector's definition is shared with everyone.

    This gives the connector's consent to any grant.

    Emitted by ``POST /api/mcp/connectors/{id}/grants/public``.
    """

    TOPIC = "connector.made_public"
    by: Published[Id]
    since: Published[Time]

    def sentence(self, named: Named) -> str:
        return f"made the connector {self.subject(named)} public; it was private before"

    def apply(self, aggregate: Any) -> None:
        aggregate.is_public = True
        aggregate.public_since = self.since
        aggregate.made_public_by = self.by


class MadePrivate(LoggedAggregate.Event):
    """The connector is private again; existing grants remain.

    Emitted by ``DELETE /api/mcp/connectors/{id}/grants/public``.
    """

    TOPIC = "connector.made_private"

    def sentence(self, named: Named) -> str:
        return f"made the connector {self.subject(named)} private; it was public before"

    def apply(self, aggregate: Any) -> None:
        aggregate.is_public = False
        aggregate.public_since = aggregate.made_public_by = None


class GrantOffered(LoggedAggregate.Event):
    """One side has consented to a grant; the other has not yet.

    ``side`` is ``connector`` or ``agent``. It follows a second time when a new owner
    repeats an offer of the former one.

    Emitted by ``PUT /api/mcp/connectors/{id}/grants/agents/{agent_id}``.
    """

    TOPIC = "connector.grant_offered"
    agent_id: Published[Id]
    side: Published[str]

    def sentence(self, named: Named) -> str:
        return (
            f"consented for the {self.side} to a grant of the connector "
            f"{self.subject(named)} to agent {named(self.agent_id)}; "
            "the other side's consent is missing"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.not_lent = _without(self.agent_id, aggregate.not_lent)
        aggregate.offers = {**aggregate.offers, self.agent_id: self.side}


class GrantedToAgent(LoggedAggregate.Event):
    """Both sides have consented; the agent holds the connector.

    It follows a second time when the connector's side consents itself to a grant to
    which being public, or a former owner, had consented: from then on the owner's
    secret is sent for it.

    Emitted by ``PUT /api/mcp/connectors/{id}/grants/agents/{agent_id}``.
    """

    TOPIC = "connector.granted_to_agent"
    agent_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return (
            f"granted the connector {self.subject(named)} "
            f"to agent {named(self.agent_id)}"
        )

    def apply(self, aggregate: Any) -> None:
        if self.agent_id in aggregate.granted_to:
            aggregate.not_lent = _without(self.agent_id, aggregate.not_lent)
            return
        if (
            aggregate.is_public
            and aggregate.offers.get(self.agent_id) != CONNECTOR_SIDE
        ):
            aggregate.not_lent = [*aggregate.not_lent, self.agent_id]
        aggregate.granted_to = sorted([*aggregate.granted_to, self.agent_id])
        aggregate.offers = {
            agent: side
            for agent, side in aggregate.offers.items()
            if agent != self.agent_id
        }


class GrantRevoked(LoggedAggregate.Event):
    """A grant, or an offer of one, was revoked.

    Emitted by ``DELETE /api/mcp/connectors/{id}/grants/agents/{agent_id}``.
    """

    TOPIC = "connector.grant_revoked"
    agent_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return (
            f"took the connector {self.subject(named)}, or its offer, back "
            f"from agent {named(self.agent_id)}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.granted_to = _without(self.agent_id, aggregate.granted_to)
        aggregate.not_lent = _without(self.agent_id, aggregate.not_lent)
        aggregate.offers = {
            agent: side
            for agent, side in aggregate.offers.items()
            if agent != self.agent_id
        }


class Retired(LoggedAggregate.Event):
    """The connector was retired permanently; no agent holds it.

    Emitted by ``DELETE /api/mcp/connectors/{id}``.
    """

    TOPIC = "connector.retired"

    def sentence(self, named: Named) -> str:
        return (
            f"retired the connector {self.subject(named)}: no agent holds it any more"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.is_retired = True
        aggregate.offered_owner_id = None
        aggregate.is_public = False
        aggregate.public_since = aggregate.made_public_by = None
        aggregate.granted_to = aggregate.not_lent = []
        aggregate.offers = {}


def _without(agent_id: str, agents: list[str]) -> list[str]:
    return [each for each in agents if each != agent_id]
