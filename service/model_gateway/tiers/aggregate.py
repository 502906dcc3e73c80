"""The registry of tiers: one for all agents."""

from collections.abc import Mapping
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, listed
from service.identifiers import named_id


class ModelTiers(LoggedAggregate):
    """Names such as ``fast``, and the preset that each stands for.

    An agent's routing may say otherwise for the agent. A preset's owner still decides
    which agents may call it.
    """

    class Created(LoggedAggregate.Created):
        """The registry of tiers was begun; the next event holds the first ones.

        Emitted by ``PUT /api/llm-router/tiers``.
        """

        TOPIC = "model_tiers.created"

        def sentence(self, named: Named) -> str:
            return "began the registry of tiers, with none"

    class Replaced(LoggedAggregate.Event):
        """These tiers stand for these presets from now on.

        ``tiers`` holds only those that differ from before; null for one that is gone.

        Emitted by ``PUT /api/llm-router/tiers`` and ``POST
        /api/llm-router/tiers/restore``.
        """

        TOPIC = "model_tiers.replaced"
        tiers: Published[dict[str, Id | None]]

        def sentence(self, named: Named) -> str:
            changes = [
                f"{tier} is the preset {named(preset)}" if preset else f"{tier} is gone"
                for tier, preset in self.tiers.items()
            ]
            return f"changed the registry of tiers: {listed(changes, '; ')}"

        def apply(self, aggregate: "ModelTiers") -> None:
            tiers = {**aggregate.tiers, **self.tiers}
            aggregate.tiers = {
                tier: preset for tier, preset in sorted(tiers.items()) if preset
            }

    TOPIC = "model_tiers"

    @staticmethod
    def create_id() -> UUID:
        return named_id("model_tiers")

    @event(Created)
    def __init__(self) -> None:
        self.tiers: dict[str, str] = {}

    def replace(self, tiers: Mapping[str, str]) -> dict[str, str | None]:
        """Give the registry these tiers, and no others; return what differs."""
        changed: dict[str, str | None] = {
            tier: tiers.get(tier)
            for tier in sorted({*tiers, *self.tiers})
            if tiers.get(tier) != self.tiers.get(tier)
        }
        if changed:
            self.trigger_event(self.Replaced, tiers=changed)
        return changed
