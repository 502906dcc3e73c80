"""Which preset answers each model that an agent names."""
# Made by "make generated"; do not edit.

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.models import (
    CallableModels,
    ModelRouteBody,
    PreviewedRouting,
    ReplacedRouting,
    RestoredRouting,
    RoutingAtPosition,
    RoutingExplanation,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class ModelRoutingResource:
    """Which preset answers each model that an agent names."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def replace(
        self,
        agent_id: UUID | str,
        routes: Sequence[ModelRouteBody],
        tiers: Mapping[str, Any],
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ReplacedRouting:
        """Replace the routing of an agent's model calls.

        Requires full management of the agent. The first route that matches the name of
        a model says which preset answers; a name without a route can't be called. Each
        preset must be public or granted to the agent, and stays its owner's to take
        back.

        :param routes: In order: the first that matches a name counts.
        :param tiers: Presets of tiers, for this agent, instead of the registry's.
        """
        return self._caller.model(
            operations.PUT_MODEL_ROUTING,
            ReplacedRouting,
            path={"agent_id": agent_id},
            body={"routes": routes, "tiers": tiers},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def get(
        self, agent_id: UUID | str, *, at: int | datetime | NotGiven = NOT_GIVEN
    ) -> RoutingAtPosition:
        """Read the routing of an agent's model calls, now or as of an earlier time.

        For everyone who sees the agent.

        :param at: A log position or a time: answer as of then.
        """
        return self._caller.model(
            operations.GET_MODEL_ROUTING,
            RoutingAtPosition,
            path={"agent_id": agent_id},
            query={"at": at},
        )

    def restore(
        self,
        agent_id: UUID | str,
        at: int | datetime,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> RestoredRouting:
        """Restore an agent's routing of an earlier position or time.

        Requires full management of the agent. Recorded as a new change. What the agent
        may not call any more is left out, as `left_out` says.

        :param at: A log position or a time: restore what was then.
        """
        return self._caller.model(
            operations.POST_MODEL_ROUTING_RESTORE,
            RestoredRouting,
            path={"agent_id": agent_id},
            body={"at": at},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_models(self, agent_id: UUID | str) -> CallableModels:
        """List the models that an agent could call now, with their prices.

        For everyone who sees the agent. Each route of its routing in order, with the
        preset and the targets that it leads to, or why it can't be called.
        """
        return self._caller.model(
            operations.GET_AGENT_MODELS, CallableModels, path={"agent_id": agent_id}
        )

    def preview(
        self,
        agent_id: UUID | str,
        routes: Sequence[ModelRouteBody],
        tiers: Mapping[str, Any],
        *,
        days: int | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PreviewedRouting:
        """Preview a replacement of an agent's routing; nothing is changed.

        Takes what the replacement takes, and refuses what that would refuse. Shows
        which names of models would lead to another preset, and how many of the recorded
        calls of the past `days` (7) they are.

        :param days: Days of recorded calls to compare.
        :param routes: In order: the first that matches a name counts.
        :param tiers: Presets of tiers, for this agent, instead of the registry's.
        """
        return self._caller.model(
            operations.POST_MODEL_ROUTING_PREVIEW,
            PreviewedRouting,
            path={"agent_id": agent_id},
            query={"days": days},
            body={"routes": routes, "tiers": tiers},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def explain(
        self,
        agent_id: UUID | str,
        model: str,
        *,
        input_tokens: int | NotGiven = NOT_GIVEN,
        at: int | datetime | NotGiven = NOT_GIVEN,
    ) -> RoutingExplanation:
        """Explain where a name of a model leads, now or as of an earlier time.

        For everyone who sees the agent. Lists every route with whether it matched and
        whether it decided, the tier, the preset with its version and targets, and the
        prices as they were known then.

        :param model: The name of a model as the client sends it.
        :param input_tokens: The length of a prompt, to say which targets it fits.
        :param at: A log position or a time: answer as of then.
        """
        return self._caller.model(
            operations.GET_MODEL_ROUTING_EXPLANATION,
            RoutingExplanation,
            path={"agent_id": agent_id},
            query={"model": model, "input_tokens": input_tokens, "at": at},
        )
