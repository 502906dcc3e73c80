"""The body of a preset."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from service.http.requests import Name, RequestModel
from service.model_gateway.presets.terms import (
    GROUPS_MAX,
    TARGETS_MAX,
    PresetTarget,
    PresetTerms,
)
from service.price_catalog.bodies import ModelName

Status = Annotated[int, Field(ge=400, le=599)]
FALL_BACK_ON: Final = [402, 408, 429, 500, 502, 503, 504, 529]
Seconds = Annotated[int, Field(ge=1, le=7200)]


class PresetTargetBody(RequestModel):
    connection_id: UUID
    model: Annotated[
        ModelName, Field(description="The model's name at its provider, as is sent.")
    ]
    weight: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            description="Among the targets of a group: the share of the calls.",
        ),
    ] = 1
    context_window: Annotated[
        int | None,
        Field(
            ge=1,
            le=100_000_000,
            description=(
                "In tokens: a longer prompt goes to the next group before it is sent. "
                "Null: any prompt is sent."
            ),
        ),
    ] = None

    @property
    def target(self) -> PresetTarget:
        return {
            "connection_id": str(self.connection_id),
            "model": self.model,
            "weight": self.weight,
            "context_window": self.context_window,
        }


def _once_each(targets: list[PresetTargetBody]) -> list[PresetTargetBody]:
    named = {(each.connection_id, each.model) for each in targets}
    if len(named) < len(targets):
        raise ValueError("names a model of a connection twice; give it more weight")
    return targets


class PresetGroupBody(RequestModel):
    targets: Annotated[
        list[PresetTargetBody],
        Field(min_length=1, max_length=TARGETS_MAX),
        AfterValidator(_once_each),
    ]


def _in_order(statuses: list[int]) -> list[int]:
    return sorted({*statuses})


def _not_too_many(groups: list[PresetGroupBody]) -> list[PresetGroupBody]:
    if sum(len(each.targets) for each in groups) > TARGETS_MAX:
        raise ValueError(f"has more than {TARGETS_MAX} targets in all")
    return groups


Description = Annotated[str, Field(max_length=2000)]
Visibility = Annotated[
    Literal["private", "public"],
    Field(
        description=(
            "`public`: every agent's manager may route the agent here, and its calls "
            "send the owner's secrets. `private`: only agents that it is granted to."
        )
    ),
]
Attempts = Annotated[
    int, Field(ge=1, le=4, description="How many targets a call tries, at most.")
]
TotalTimeout = Annotated[
    Seconds, Field(description="For a call with all of its attempts.")
]
FirstByteTimeout = Annotated[
    Seconds, Field(description="For an attempt, until its answer begins.")
]
IdleTimeout = Annotated[Seconds, Field(description="Between two pieces of a stream.")]
Sticky = Annotated[
    int,
    Field(
        ge=0,
        le=86_400,
        description=(
            "How long a session stays with its target after its last call, for the "
            "provider's cache of prompts; 0: each call is balanced anew."
        ),
    ),
]
FallBackOn = Annotated[
    list[Status],
    Field(
        max_length=50,
        description=(
            "Statuses of a target that send a call to the next one. So do a connection "
            "that fails and a timeout."
        ),
    ),
    AfterValidator(_in_order),
]


class PresetBody(RequestModel):
    """All that a preset says: nothing is left as it was."""

    name: Name
    description: Description
    visibility: Visibility
    groups: Annotated[
        list[PresetGroupBody],
        Field(
            min_length=1,
            max_length=GROUPS_MAX,
            description="In order: the next one is tried where one can't answer.",
        ),
        AfterValidator(_not_too_many),
    ]
    attempts: Attempts
    total_timeout_s: TotalTimeout
    first_byte_timeout_s: FirstByteTimeout
    idle_timeout_s: IdleTimeout
    sticky_s: Sticky
    fall_back_on: FallBackOn

    @property
    def terms(self) -> PresetTerms:
        return {
            "name": self.name,
            "description": self.description,
            "visibility": self.visibility,
            "groups": [
                {"targets": [target.target for target in group.targets]}
                for group in self.groups
            ],
            "attempts": self.attempts,
            "total_timeout_s": self.total_timeout_s,
            "first_byte_timeout_s": self.first_byte_timeout_s,
            "idle_timeout_s": self.idle_timeout_s,
            "sticky_s": self.sticky_s,
            "fall_back_on": self.fall_back_on,
        }


class NewPreset(PresetBody):
    description: Description = ""
    visibility: Visibility = "private"
    attempts: Attempts = 2
    total_timeout_s: TotalTimeout = 1800
    first_byte_timeout_s: FirstByteTimeout = 300
    idle_timeout_s: IdleTimeout = 120
    sticky_s: Sticky = 3600
    fall_back_on: FallBackOn = FALL_BACK_ON
