"""Providers of models."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Named, Published
from service.identifiers import named_id


class Provider(LoggedAggregate):
    """A company that serves models; its key never changes."""

    class Created(LoggedAggregate.Created):
        """A provider of models was registered.

        Emitted by ``POST /api/llm-router/providers`` and imports of price lists.
        """

        TOPIC = "provider.added"
        key: Published[str]
        display_name: Published[str]

        def sentence(self, named: Named) -> str:
            return f"added the provider {self.display_name!r} ({self.key})"

    TOPIC = "provider"

    @staticmethod
    def create_id(key: str) -> UUID:
        return named_id("provider", key)

    @event(Created)
    def __init__(self, key: str, display_name: str) -> None:
        self.key = key
        self.display_name = display_name
