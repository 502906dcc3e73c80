"""The routing of one agent's model calls."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, listed
from service.identifiers import id_text, named_id
from service.model_gateway.routing.terms import NO_ROUTES, ModelRoute, RoutingTerms


class ModelRouting(LoggedAggregate):
    """Which preset answers each name of a model; created with the first route.

    A name that no route matches can't be called.
    """

    class Created(LoggedAggregate.Created):
        """An agent gets its first routes; the next event holds them.

        Emitted by ``PUT /api/agents/{agent_id}/llm-routing``.
        """

        TOPIC = "model_routing.created"
        agent_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return f"began the model routing of agent {named(self.agent_id)}, with none"

    class Replaced(LoggedAggregate.Event):
        """The agent has exactly these routes and tiers of its own from now on.

        Emitted by ``PUT /api/agents/{agent_id}/llm-routing`` and ``POST
        /api/agents/{agent_id}/llm-routing/restore``.
        """

        TOPIC = "model_routing.replaced"
        agent_id: Published[Id]
        terms: Published[RoutingTerms]

        def sentence(self, named: Named) -> str:
            agent, routes = named(self.agent_id), self.terms["routes"]
            if not routes:
                return f"removed the model routing of agent {agent}"
            texts = [_route_text(each, named) for each in routes]
            tiers = [
                f"{tier} is the preset {named(preset)}"
                for tier, preset in self.terms["tiers"].items()
            ]
            own = f"; of its own, {listed(tiers)}" if tiers else ""
            return f"routed the model calls of agent {agent}: {listed(texts)}{own}"

        def apply(self, aggregate: "ModelRouting") -> None:
            aggregate.terms = self.terms

    TOPIC = "model_routing"

    @staticmethod
    def create_id(agent_id: str) -> UUID:
        return named_id("model_routing", agent_id)

    @classmethod
    def id_for(cls, agent_id: UUID) -> UUID:
        return cls.create_id(id_text(agent_id))

    @event(Created)
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.terms: RoutingTerms = NO_ROUTES

    def replace(self, terms: RoutingTerms) -> bool:
        """Give the agent this routing; return whether it differs."""
        if terms == self.terms:
            return False
        self.trigger_event(self.Replaced, agent_id=self.agent_id, terms=terms)
        return True


def _route_text(route: ModelRoute, named: Named) -> str:
    preset, tier = route["preset_id"], route["tier"]
    target = f"the tier {tier}" if preset is None else f"the preset {named(preset)}"
    return f"{route['model']} to {target}"
