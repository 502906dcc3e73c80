"""Sums of tokens and cost."""
# Made by "make generated"; do not edit.

from collections.abc import Sequence
from datetime import date
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    Usage,
    UsagePage,
)
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
        time_zone: str | NotGiven = NOT_GIVEN,
        group_by: Sequence[
            Literal[
                "hour",
                "day",
                "week",
                "month",
                "agent",
                "user",
                "provider",
                "model",
                "priced_as",
                "pricing_rule",
            ]
        ]
        | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        user_id: UUID | str | NotGiven = NOT_GIVEN,
        provider: str | NotGiven = NOT_GIVEN,
        model: str | NotGiven = NOT_GIVEN,
        order: Literal["group", "cost", "turns", "tokens"] | NotGiven = NOT_GIVEN,
        compare: bool | NotGiven = NOT_GIVEN,
        top: int | NotGiven = NOT_GIVEN,
        unit_costs: bool | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        offset: int | NotGiven = NOT_GIVEN,
    ) -> Pages[Usage, UsagePage]:
        """Sum up tokens and cost by time, agent, user, provider or model.

        Of the caller's own sessions and of agents that the caller manages; of all
        sessions for superusers and auditors. `totals` are sums of all groups, `others`
        of the `groups` that the page doesn't show. `cost` is null when it isn't
        completely known: a model call has no price, or there are several currencies;
        `known_costs` holds the known part, `cost_unknown_because` the reasons, and
        `unpriced` in how many turns. `completeness` says what of the cost is exact and
        what an estimate. Groups in several currencies are ordered by the one used most.
        Likewise the tokens are null when a call didn't report them all;
        `known_token_usage` sums up the others. Both are of the group's own models,
        while a turn is counted once, for the one with the most tokens: also in
        `turns_without_price` and `turns_without_usage`, whichever of its models lacks
        them, and in `differing`. `reported_cost` is what instrumentations report, in US
        dollars; `reported_cost_difference` is that minus ours, of the calls that have
        both; `differing` sums up the turns that differ by more than 1 %.

        :param from_day: The first day; by default 29 days before the last.
        :param until_day: The last day, included; by default today.
        :param time_zone: The zone of the days, such as `Europe/Berlin`.
        :param group_by: What to sum up by, `day` by default; at most one of `hour`,
            `day`, `week` and `month`.
        :param agent_id: Limits the list to this agent.
        :param user_id: Limits the list to this user.
        :param provider: Limits the list to this provider, by its key.
        :param model: Limits the list to this model.
        :param order: By group, or the largest first by one of the sums.
        :param compare: Adds the sums of the period before to each group.
        :param top: With a period and other groups: show so many of these, the dearest,
            and the rest as one group.
        :param unit_costs: Adds the cost by turn, session and user.
        :param limit: Maximum number of items on the page.
        :param offset: Number of items to skip.
        """
        return Pages(
            self._caller,
            operations.GET_USAGE,
            UsagePage,
            Paging("usage", "offset", cursor=(), more=("has_next_page",)),
            query={
                "from_day": from_day,
                "until_day": until_day,
                "time_zone": time_zone,
                "group_by": group_by,
                "agent_id": agent_id,
                "user_id": user_id,
                "provider": provider,
                "model": model,
                "order": order,
                "compare": compare,
                "top": top,
                "unit_costs": unit_costs,
                "limit": limit,
                "offset": offset,
            },
        )

    def export_csv(
        self,
        *,
        from_day: date | NotGiven = NOT_GIVEN,
        until_day: date | NotGiven = NOT_GIVEN,
        time_zone: str | NotGiven = NOT_GIVEN,
        group_by: Sequence[
            Literal[
                "hour",
                "day",
                "week",
                "month",
                "agent",
                "user",
                "provider",
                "model",
                "priced_as",
                "pricing_rule",
            ]
        ]
        | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        user_id: UUID | str | NotGiven = NOT_GIVEN,
        provider: str | NotGiven = NOT_GIVEN,
        model: str | NotGiven = NOT_GIVEN,
        order: Literal["group", "cost", "turns", "tokens"] | NotGiven = NOT_GIVEN,
    ) -> bytes:
        """Export all groups as CSV for spreadsheets, in the order asked for.

        Tokens are those that are known; `cost` is empty when it isn't completely known,
        and the columns `known_cost_` and a currency have the known part,
        `estimated_cost_` what of it is an estimate. A cell that a spreadsheet could
        take for a formula starts with an apostrophe.

        :param from_day: The first day; by default 29 days before the last.
        :param until_day: The last day, included; by default today.
        :param time_zone: The zone of the days, such as `Europe/Berlin`.
        :param group_by: What to sum up by, `day` by default; at most one of `hour`,
            `day`, `week` and `month`.
        :param agent_id: Limits the list to this agent.
        :param user_id: Limits the list to this user.
        :param provider: Limits the list to this provider, by its key.
        :param model: Limits the list to this model.
        :param order: By group, or the largest first by one of the sums.
        """
        return self._caller.content(
            operations.GET_USAGE_CSV,
            query={
                "from_day": from_day,
                "until_day": until_day,
                "time_zone": time_zone,
                "group_by": group_by,
                "agent_id": agent_id,
                "user_id": user_id,
                "provider": provider,
                "model": model,
                "order": order,
            },
        )
