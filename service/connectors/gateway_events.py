"""The events of what the tool gateway needs of a connector."""

from typing import Any

from service.aggregate import LoggedAggregate
from service.connectors.credential import OF_CALLER
from service.connectors.url import origin_of
from service.events import Named, Published


class SlugChanged(LoggedAggregate.Event):
    """The connector's tools have this prefix in an agent's list from now on.

    It is the previous one if that followed from the name, and stays now.

    Emitted by ``PUT /api/mcp/connectors/{id}/gateway``.
    """

    TOPIC = "connector.slug_changed"
    slug: Published[str]
    previous_slug: Published[str]

    def sentence(self, named: Named) -> str:
        if self.slug == self.previous_slug:
            return (
                f"kept the slug {self.slug!r} for the connector {self.subject(named)}"
            )
        return (
            f"changed the slug of the connector {self.subject(named)} to "
            f"{self.slug!r}, was {self.previous_slug!r}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.chosen_slug = self.slug


class RecordModeChanged(LoggedAggregate.Event):
    """The connector's calls are recorded in this mode from now on.

    ``strict``: each call is admitted by an event of its own before it is forwarded.
    ``batched``: calls are recorded in groups, after they were decided.

    Emitted by ``PUT /api/mcp/connectors/{id}/gateway``.
    """

    TOPIC = "connector.record_mode_changed"
    record_mode: Published[str]

    def sentence(self, named: Named) -> str:
        return (
            f"let calls of the connector {self.subject(named)} be recorded "
            f"{self.record_mode}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.record_mode = self.record_mode


class ProtocolRevisionSet(LoggedAggregate.Event):
    """The gateway speaks this revision of MCP with the connector's server.

    Null: it finds out which one the server speaks.

    Emitted by ``PUT /api/mcp/connectors/{id}/gateway``.
    """

    TOPIC = "connector.protocol_revision_set"
    protocol_revision: Published[str | None]

    def sentence(self, named: Named) -> str:
        if self.protocol_revision is None:
            return (
                "let the gateway find out which revision of MCP the connector "
                f"{self.subject(named)} speaks"
            )
        return (
            f"let the gateway speak MCP {self.protocol_revision} with the connector "
            f"{self.subject(named)}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.protocol_revision = self.protocol_revision


class CredentialAttached(LoggedAggregate.Event):
    """The gateway sends a secret's value to the connector from now on.

    ``whose`` is ``owner`` or ``caller``; ``secret_name`` is the owner's secret, null if
    it is the caller's. ``scheme`` stands before the value in the header, if any. It
    replaces an earlier setting.

    Emitted by ``PUT /api/mcp/connectors/{id}/credential``.
    """

    TOPIC = "connector.credential_attached"
    whose: Published[str]
    secret_name: Published[str | None]
    header: Published[str]
    scheme: Published[str | None]

    def sentence(self, named: Named) -> str:
        secret = (
            f"the owner's secret {self.secret_name!r}"
            if self.secret_name
            else "the calling user's secret"
        )
        return (
            f"let the gateway send {secret} to the connector {self.subject(named)} "
            f"in the header {self.header}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.credential = {
            "whose": self.whose,
            "secret_name": self.secret_name,
            "header": self.header,
            "scheme": self.scheme,
        }
        if self.whose == OF_CALLER and aggregate.callers_origin is None:
            aggregate.callers_origin = origin_of(aggregate.url)


class CredentialDetached(LoggedAggregate.Event):
    """The gateway sends the connector no secret any more.

    Emitted by ``DELETE /api/mcp/connectors/{id}/credential``; also when the connector
    moves to another host, or another owner.
    """

    TOPIC = "connector.credential_detached"

    def sentence(self, named: Named) -> str:
        return (
            f"let the gateway send no secret to the connector {self.subject(named)} "
            "any more"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.credential = None
