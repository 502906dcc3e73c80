"""The registry of tiers: for each name a preset."""
# Made by "make generated"; do not edit.

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client.models import (
    PreviewedTiers,
    ReplacedTierRegistry,
    RestoredTiers,
    TierRegistry,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncTiersResource:
    """The registry of tiers: for each name a preset."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def replace(
        self,
        tiers: Mapping[str, Any],
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ReplacedTierRegistry:
        """Replace the registry of tiers.

        Requires the role `superuser`. Holds for all agents whose routing names a tier
        and says nothing else for it. A preset that isn't public must be granted to an
        agent as well, or the agent can't call it.

        :param tiers: The preset of each tier, by the tier's name.
        """
        return await self._caller.model(
            operations.PUT_TIERS,
            ReplacedTierRegistry,
            body={"tiers": tiers},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def get(self, *, at: int | datetime | NotGiven = NOT_GIVEN) -> TierRegistry:
        """Read the registry of tiers, now or as of an earlier position or time.

        For everybody who can sign in.

        :param at: A log position or a time: answer as of then.
        """
        return await self._caller.model(
            operations.GET_TIERS, TierRegistry, query={"at": at}
        )

    async def preview(
        self,
        tiers: Mapping[str, Any],
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PreviewedTiers:
        """Preview a replacement of the registry of tiers; nothing is changed.

        Says which tiers would change, and which agents are routed to them.

        :param tiers: The preset of each tier, by the tier's name.
        """
        return await self._caller.model(
            operations.POST_TIERS_PREVIEW,
            PreviewedTiers,
            body={"tiers": tiers},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def restore(
        self,
        at: int | datetime,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> RestoredTiers:
        """Restore the registry of tiers of an earlier position or time.

        Requires the role `superuser`. Recorded as a new change; tiers added since are
        gone.

        :param at: A log position or a time: restore what was then.
        """
        return await self._caller.model(
            operations.POST_TIERS_RESTORE,
            RestoredTiers,
            body={"at": at},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
