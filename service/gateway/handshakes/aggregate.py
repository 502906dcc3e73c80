"""Handshakes with upstreams for which a secret is sent."""

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.secrets.sent import UsedSecret


class UpstreamHandshake(LoggedAggregate):
    """An upstream is asked which revision it speaks, or for a session, for an agent."""

    class Created(LoggedAggregate.Created):
        """A connector's server is asked how it speaks with ``secret``, opened after it.

        The call that needs it is decided once more, and admitted, when it has answered.

        Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``, where a connector has a
        credential and there is no agreement with its server yet.
        """

        TOPIC = "upstream_handshake.started"
        connector_id: Published[Id]
        agent_id: Published[Id]
        user_id: Published[Id | None]
        secret: UsedSecret

        def sentence(self, named: Named) -> str:
            return (
                f"asked the server of connector {named(self.connector_id)} how it "
                f"speaks, for agent {named(self.agent_id)}, with a secret of "
                f"{named(self.secret['owner_id'])}"
            )

    TOPIC = "upstream_handshake"

    @event(Created)
    def __init__(
        self,
        connector_id: str,
        agent_id: str,  # for readers of the event, as what follows
        user_id: str | None,
        secret: UsedSecret,
    ) -> None:
        self.connector_id = connector_id
