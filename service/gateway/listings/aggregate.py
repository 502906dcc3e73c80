"""Lists of tools that upstreams are asked for with a secret."""

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.secrets.sent import UsedSecret


class ToolListing(LoggedAggregate):
    """One observation of a connector's tools that sends a secret of its owner."""

    class Created(LoggedAggregate.Created):
        """A connector is asked for its tools with ``secret``, opened after this event.

        Emitted by observations of a connector with a credential.
        """

        TOPIC = "tool_listing.started"
        connector_id: Published[Id]
        secret: UsedSecret

        def sentence(self, named: Named) -> str:
            return (
                f"listed the tools of connector {named(self.connector_id)} with a "
                f"secret of {named(self.secret['owner_id'])}"
            )

    TOPIC = "tool_listing"

    @event(Created)
    def __init__(
        self,
        connector_id: str,
        secret: UsedSecret,  # for readers of the event
    ) -> None:
        self.connector_id = connector_id
