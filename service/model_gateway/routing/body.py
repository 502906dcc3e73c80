"""The body of an agent's routing."""

from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from service.http.requests import RequestModel
from service.http.validation_errors import explained, fault_at
from service.model_gateway.routing.terms import (
    ROUTES_MAX,
    ModelRoute,
    RoutingTerms,
)
from service.model_gateway.tiers.body import TierName, Tiers
from service.tool_rules.glob import ANY_RUN

MODEL_CHARACTERS_MAX = 128
ModelPattern = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MODEL_CHARACTERS_MAX,
        pattern=explained(
            r"^[!-~]*$", "must be of printable ASCII characters, without spaces"
        ),
        description=(
            "The name of a model as clients send it. `*` stands for any run of "
            "characters, also none, and `?` for any one; case matters."
        ),
    ),
]


def _one_target(schema: dict[str, Any]) -> None:
    """Say in the schema what the validator checks."""
    schema["oneOf"] = [
        {
            "required": ["preset_id"],
            "properties": {"preset_id": {"type": "string"}, "tier": {"type": "null"}},
        },
        {
            "required": ["tier"],
            "properties": {"tier": {"type": "string"}, "preset_id": {"type": "null"}},
        },
    ]


class ModelRouteBody(RequestModel):
    """A name of a model, and the preset or the tier that answers it."""

    model_config = ConfigDict(json_schema_extra=_one_target)

    model: ModelPattern
    preset_id: UUID | None = None
    tier: TierName | None = None

    @model_validator(mode="after")
    def _has_one_target(self) -> Self:
        if (self.preset_id is None) == (self.tier is None):
            raise fault_at("preset_id", "either this or tier is required, not both")
        return self

    @property
    def route(self) -> ModelRoute:
        preset = self.preset_id
        return {
            "model": self.model,
            "preset_id": None if preset is None else str(preset),
            "tier": self.tier,
        }


def _once_each(routes: list[ModelRouteBody]) -> list[ModelRouteBody]:
    if len({each.model for each in routes}) < len(routes):
        raise ValueError("names a model twice; only the first could count")
    if any(each.model == ANY_RUN for each in routes[:-1]):
        raise ValueError("has routes behind *, which matches every name; put it last")
    return routes


class RoutingBody(RequestModel):
    """The complete routing of an agent; without routes it can call no model."""

    routes: Annotated[
        list[ModelRouteBody],
        Field(
            max_length=ROUTES_MAX,
            description="In order: the first that matches a name counts.",
        ),
        AfterValidator(_once_each),
    ]
    tiers: Annotated[
        Tiers,
        Field(
            description="Presets of tiers, for this agent, instead of the registry's."
        ),
    ]

    @property
    def terms(self) -> RoutingTerms:
        return {
            "routes": [each.route for each in self.routes],
            "tiers": {tier: str(preset) for tier, preset in sorted(self.tiers.items())},
        }
