"""The body of the registry of tiers."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import Field

from service.http.requests import RequestModel
from service.http.validation_errors import explained

TIERS_MAX: Final = 100
TIER_PATTERN: Final = explained(
    r"^[a-z0-9][a-z0-9._-]{0,63}$",
    "must be of lower-case letters, digits and . _ -, at most 64, and begin with a "
    "letter or digit",
)
TierName = Annotated[str, Field(pattern=TIER_PATTERN)]


class TiersBody(RequestModel):
    """The complete registry: a tier that isn't named is gone."""

    tiers: Annotated[
        dict[TierName, UUID],
        Field(
            max_length=TIERS_MAX,
            description="The preset of each tier, by the tier's name.",
        ),
    ]

    @property
    def presets(self) -> dict[str, str]:
        return {tier: str(preset) for tier, preset in self.tiers.items()}
