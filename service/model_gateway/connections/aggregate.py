"""A connection to a server that answers model calls."""

from typing import Any
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, differences, listed
from service.model_gateway.connections.settings import (
    ConnectionSettings,
    texts_of,
    with_record_mode,
)


class ModelConnection(LoggedAggregate):
    """Where model calls go, in which dialects, and with which secret of its owner."""

    class Created(LoggedAggregate.Created):
        """A connection to a server of models was registered.

        Emitted by ``POST /api/llm-router/connections``.
        """

        TOPIC = "model_connection.registered"
        class_version = 2  # 2: with ``record_mode``
        owner_id: Published[Id]
        settings: Published[ConnectionSettings]

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            state["settings"] = with_record_mode(state["settings"])

        @property
        def name(self) -> str:
            return self.settings["name"]

        def sentence(self, named: Named) -> str:
            settings = self.settings
            return (
                f"registered the model connection {settings['name']!r} to "
                f"{settings['base_url']} ({listed(settings['dialects'])}), owned by "
                f"{named(self.owner_id)}"
            )

    class Edited(LoggedAggregate.Event):
        """The connection has these settings from now on.

        Emitted by ``PUT /api/llm-router/connections/{connection_id}``.
        """

        TOPIC = "model_connection.edited"
        class_version = 2  # 2: with ``record_mode``
        settings: Published[ConnectionSettings]
        previous: Published[ConnectionSettings]

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            for name in ("settings", "previous"):
                state[name] = with_record_mode(state[name])

        @property
        def name(self) -> str:
            return self.settings["name"]

        def sentence(self, named: Named) -> str:
            before, after = texts_of(self.previous), texts_of(self.settings)
            changes = [(name, before[name], after[name]) for name in after]
            return (
                f"edited the model connection {self.subject(named)}: "
                f"{differences(*changes)}"
            )

        def apply(self, aggregate: "ModelConnection") -> None:
            aggregate.settings = self.settings

    class Retired(LoggedAggregate.Event):
        """The connection was retired permanently: no call uses it any more.

        Emitted by ``DELETE /api/llm-router/connections/{connection_id}``.
        """

        TOPIC = "model_connection.retired"

        def sentence(self, named: Named) -> str:
            return (
                f"retired the model connection {self.subject(named)}: no call uses it "
                "any more"
            )

        def apply(self, aggregate: "ModelConnection") -> None:
            aggregate.is_retired = True

    TOPIC = "model_connection"
    class_version = 2  # with the record mode

    @event(Created)
    def __init__(self, owner_id: str, settings: ConnectionSettings) -> None:
        self.owner_id = owner_id
        self.settings = settings
        self.is_retired = False

    def is_owned_by(self, user_id: UUID) -> bool:
        return self.owner_id == str(user_id)

    def edit(self, settings: ConnectionSettings) -> bool:
        """Give the connection other settings; return whether any differs."""
        if settings == self.settings:
            return False
        self.trigger_event(self.Edited, settings=settings, previous=self.settings)
        return True

    def retire(self) -> bool:
        """End the connection for good; return whether it was in use."""
        if self.is_retired:
            return False
        self.trigger_event(self.Retired)
        return True
