"""Sums of tokens and cost."""
# Made by "make contract"; do not edit.

from datetime import date
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import Usage, UsagePage
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class UsageResource:
    """Sums of tokens and cost."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        from_day: date | NotGiven = NOT_GIVEN,
        until_day: date | NotGiven = NOT_GIVEN,
        group_by: str | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        user_id: UUID | str | NotGiven = NOT_GIVEN,
        provider: str | NotGiven = NOT_GIVEN,
        model: str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        offset: int | NotGiven = NOT_GIVEN,
    ) -> Pages[Usage, UsagePage]:
        """Sum up tokens and cost by day, agent, user, provider or model.

        Of the caller's own sessions and of agents that the caller manages; of all
        sessions for superusers and auditors. `cost` is null when it isn't completely
        known: a call has no price, or there are several currencies; `known_costs` holds
        the known part, `unpriced` the reasons. Likewise the tokens are null when a call
        didn't report them all; `known_token_usage` sums up the others. Both are of the
        group's own models, while a turn is counted once, for the one with the most
        tokens: also in `turns_without_price` and `turns_without_usage`, whichever of
        its models lacks them. `reported_cost` is what instrumentations report, in US
        dollars; `reported_cost_difference` is that minus ours, of the calls that have
        both.
        """
        return Pages(
            self._caller,
            operations.GET_USAGE,
            UsagePage,
            Paging("usage", "offset", cursor=(), more=("has_next_page",)),
            query={
                "from_day": from_day,
                "until_day": until_day,
                "group_by": group_by,
                "agent_id": agent_id,
                "user_id": user_id,
                "provider": provider,
                "model": model,
                "limit": limit,
                "offset": offset,
            },
        )
