"""Presets: which connection and model answer a call."""
# Made by "make generated"; do not edit.

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import (
    PresetGrant,
    PresetGroupBody,
    PresetList,
    PresetResource,
    PresetWithGrants,
    PreviewedPreset,
    RestoredPreset,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class PresetsResource:
    """Presets: which connection and model answer a call."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def make(
        self,
        name: str,
        groups: Sequence[PresetGroupBody],
        *,
        description: str | NotGiven = NOT_GIVEN,
        visibility: Literal["private", "public"] | NotGiven = NOT_GIVEN,
        attempts: int | NotGiven = NOT_GIVEN,
        total_timeout_s: int | NotGiven = NOT_GIVEN,
        first_byte_timeout_s: int | NotGiven = NOT_GIVEN,
        idle_timeout_s: int | NotGiven = NOT_GIVEN,
        sticky_s: int | NotGiven = NOT_GIVEN,
        fall_back_on: Sequence[int] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> PresetResource:
        """Make a preset.

        The caller becomes its owner, and its targets are on the caller's connections.
        An agent calls it once its manager routes a model to it, while it is public or
        granted to the agent.

        :param description: What it is for, in a few words.
        :param visibility: `public`: every agent's manager may route the agent here, and
            its calls send the owner's secrets. `private`: only agents that it is
            granted to.
        :param groups: In order: the next one is tried where one can't answer.
        :param attempts: How many targets a call tries, at most.
        :param total_timeout_s: For a call with all of its attempts.
        :param first_byte_timeout_s: For an attempt, until its answer begins.
        :param idle_timeout_s: Between two pieces of a stream.
        :param sticky_s: How long a session stays with its target after its last call,
            for the provider's cache of prompts; 0: each call is balanced anew.
        :param fall_back_on: Statuses of a target that send a call to the next one. So
            do a connection that fails and a timeout.
        """
        return self._caller.model(
            operations.POST_PRESET,
            PresetResource,
            body={
                "name": name,
                "description": description,
                "visibility": visibility,
                "groups": groups,
                "attempts": attempts,
                "total_timeout_s": total_timeout_s,
                "first_byte_timeout_s": first_byte_timeout_s,
                "idle_timeout_s": idle_timeout_s,
                "sticky_s": sticky_s,
                "fall_back_on": fall_back_on,
            },
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: UUID | str | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
    ) -> Pages[PresetResource, PresetList]:
        """List the presets that the caller can see, by id.

        These are the caller's own, public ones, and those granted to agents that the
        caller manages or reads; superusers and auditors see all. ``agent_id`` leaves
        those that one agent may call: public ones, and those granted to it as far as
        the caller sees that.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        :param agent_id: Only those that this agent may call.
        """
        return Pages(
            self._caller,
            operations.GET_PRESETS,
            PresetList,
            Paging("presets", "after", cursor=("end_cursor",), more=()),
            query={"limit": limit, "after": after, "agent_id": agent_id},
        )

    def change(
        self,
        preset_id: UUID | str,
        *,
        name: str,
        description: str,
        visibility: Literal["private", "public"],
        groups: Sequence[PresetGroupBody],
        attempts: int,
        total_timeout_s: int,
        first_byte_timeout_s: int,
        idle_timeout_s: int,
        sticky_s: int,
        fall_back_on: Sequence[int],
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PresetResource:
        """Change all that a preset says.

        For its owner alone, whose secrets its calls send. Its grants stay.

        :param description: What it is for, in a few words.
        :param visibility: `public`: every agent's manager may route the agent here, and
            its calls send the owner's secrets. `private`: only agents that it is
            granted to.
        :param groups: In order: the next one is tried where one can't answer.
        :param attempts: How many targets a call tries, at most.
        :param total_timeout_s: For a call with all of its attempts.
        :param first_byte_timeout_s: For an attempt, until its answer begins.
        :param idle_timeout_s: Between two pieces of a stream.
        :param sticky_s: How long a session stays with its target after its last call,
            for the provider's cache of prompts; 0: each call is balanced anew.
        :param fall_back_on: Statuses of a target that send a call to the next one. So
            do a connection that fails and a timeout.
        """
        return self._caller.model(
            operations.PUT_PRESET,
            PresetResource,
            path={"preset_id": preset_id},
            body={
                "name": name,
                "description": description,
                "visibility": visibility,
                "groups": groups,
                "attempts": attempts,
                "total_timeout_s": total_timeout_s,
                "first_byte_timeout_s": first_byte_timeout_s,
                "idle_timeout_s": idle_timeout_s,
                "sticky_s": sticky_s,
                "fall_back_on": fall_back_on,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def retire(
        self,
        preset_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PresetResource:
        """Retire a preset.

        This can't be undone: no agent is routed to it any more, and it can't be found.
        Its history is kept.
        """
        return self._caller.model(
            operations.DELETE_PRESET,
            PresetResource,
            path={"preset_id": preset_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def get(
        self, preset_id: UUID | str, *, at: int | datetime | NotGiven = NOT_GIVEN
    ) -> PresetWithGrants:
        """Get a preset, now or as of an earlier position or time.

        Access is decided by current rights, also for the past. A retired one has only a
        past, for its owner, superusers and auditors.

        :param at: A log position or a time: answer as of then.
        """
        return self._caller.model(
            operations.GET_PRESET,
            PresetWithGrants,
            path={"preset_id": preset_id},
            query={"at": at},
        )

    def preview(
        self,
        preset_id: UUID | str,
        *,
        name: str,
        description: str,
        visibility: Literal["private", "public"],
        groups: Sequence[PresetGroupBody],
        attempts: int,
        total_timeout_s: int,
        first_byte_timeout_s: int,
        idle_timeout_s: int,
        sticky_s: int,
        fall_back_on: Sequence[int],
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PreviewedPreset:
        """Preview a change of a preset; nothing is changed.

        Takes what the change takes, and refuses what that would refuse. Says what would
        differ, and which agents are routed to the preset.

        :param description: What it is for, in a few words.
        :param visibility: `public`: every agent's manager may route the agent here, and
            its calls send the owner's secrets. `private`: only agents that it is
            granted to.
        :param groups: In order: the next one is tried where one can't answer.
        :param attempts: How many targets a call tries, at most.
        :param total_timeout_s: For a call with all of its attempts.
        :param first_byte_timeout_s: For an attempt, until its answer begins.
        :param idle_timeout_s: Between two pieces of a stream.
        :param sticky_s: How long a session stays with its target after its last call,
            for the provider's cache of prompts; 0: each call is balanced anew.
        :param fall_back_on: Statuses of a target that send a call to the next one. So
            do a connection that fails and a timeout.
        """
        return self._caller.model(
            operations.POST_PRESET_PREVIEW,
            PreviewedPreset,
            path={"preset_id": preset_id},
            body={
                "name": name,
                "description": description,
                "visibility": visibility,
                "groups": groups,
                "attempts": attempts,
                "total_timeout_s": total_timeout_s,
                "first_byte_timeout_s": first_byte_timeout_s,
                "idle_timeout_s": idle_timeout_s,
                "sticky_s": sticky_s,
                "fall_back_on": fall_back_on,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def restore(
        self,
        preset_id: UUID | str,
        at: int | datetime,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> RestoredPreset:
        """Restore what a preset said at an earlier position or time.

        For its owner. Recorded as a new change; grants stay as they are. Refused if a
        connection of then is retired: edit the preset instead.

        :param at: A log position or a time: restore what was then.
        """
        return self._caller.model(
            operations.POST_PRESET_RESTORE,
            RestoredPreset,
            path={"preset_id": preset_id},
            body={"at": at},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def grant(
        self,
        preset_id: UUID | str,
        agent_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PresetGrant:
        """Grant a preset to an agent.

        For its owner alone, whose secrets the agent's calls send. The agent calls it
        once its manager routes a model to it.
        """
        return self._caller.model(
            operations.PUT_PRESET_AGENT,
            PresetGrant,
            path={"preset_id": preset_id, "agent_id": agent_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def revoke(
        self,
        preset_id: UUID | str,
        agent_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PresetGrant:
        """Take a preset back from an agent.

        Its routes to the preset stay, without effect, unless the preset is public.
        """
        return self._caller.model(
            operations.DELETE_PRESET_AGENT,
            PresetGrant,
            path={"preset_id": preset_id, "agent_id": agent_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
