"""What an agent's routing says, as its events hold it."""

from typing import Final

from typing_extensions import TypedDict

from service.events import Id

ROUTES_MAX: Final = 50


class ModelRoute(TypedDict):
    """A name of a model that a client sends, and what answers it.

    ``model`` is a glob; either ``preset_id`` or ``tier`` is set.
    """

    model: str
    preset_id: Id | None
    tier: str | None


class RoutingTerms(TypedDict):
    """Routes in order, the first that matches counts; and tiers of the agent's own."""

    routes: list[ModelRoute]
    tiers: dict[str, Id]


NO_ROUTES: Final[RoutingTerms] = {"routes": [], "tiers": {}}
