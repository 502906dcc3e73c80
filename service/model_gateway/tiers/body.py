"""The body of the registry of tiers."""

import re
from typing import Annotated, Final
from uuid import UUID

from pydantic import AfterValidator, Field

from service.http.requests import RequestModel
from service.http.validation_errors import explained

TIERS_MAX: Final = 100
SHOWN_CHARACTERS_MAX: Final = 80
TIER_FORM: Final = (
    "must be of lower-case letters, digits and . _ -, at most 64, and begin with a "
    "letter or digit"
)
TIER_PATTERN: Final = explained(r"^[a-z0-9][a-z0-9._-]{0,63}$", TIER_FORM)
TierName = Annotated[str, Field(pattern=TIER_PATTERN)]

_NAME = re.compile(TIER_PATTERN)


def _named(tiers: dict[str, UUID]) -> dict[str, UUID]:
    # As a pattern of the keys, the error wouldn't say which one it is.
    for tier in tiers:
        if not _NAME.fullmatch(tier):
            raise ValueError(f"the tier {tier[:SHOWN_CHARACTERS_MAX]!r} {TIER_FORM}")
    return tiers


Tiers = Annotated[
    dict[str, UUID],
    Field(
        max_length=TIERS_MAX,
        json_schema_extra={"propertyNames": {"pattern": TIER_PATTERN}},
    ),
    AfterValidator(_named),
]


class TiersBody(RequestModel):
    """The complete registry: a tier that isn't named is gone."""

    tiers: Annotated[
        Tiers, Field(description="The preset of each tier, by the tier's name.")
    ]

    @property
    def presets(self) -> dict[str, str]:
        return {tier: str(preset) for tier, preset in self.tiers.items()}
