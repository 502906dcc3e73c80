"""Previewing a preset, and restoring one of before, over HTTP."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from service.http.app_keys import EVENT_LOG
from service.http.as_of import BodyAt
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.replays import BUSY, turn_of
from service.http.requests import RequestModel, if_match
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.body import PresetBody
from service.model_gateway.presets.commands import (
    EditedPreset,
    EditPreset,
    decide_edit,
)
from service.model_gateway.presets.resource import (
    PresetChange,
    PresetResource,
    changes_between,
    preset_resource,
)
from service.model_gateway.presets.restore_commands import (
    RestorePreset,
    restore_preset,
)
from service.model_gateway.presets.routes import (
    BAD_TARGETS,
    EXAMPLE,
    NO_SUCH_PRESET,
    NOT_OWNER,
)
from service.model_gateway.presets.terms import PUBLIC
from service.model_gateway.routed_agents import (
    ROUTED_AGENTS,
    ROUTED_MAX,
    RoutedAgent,
)

PREVIEWS = RateLimit(burst=20, interval_s=1.0)

routes = Routes("llm-router")


class PresetMoment(RequestModel):
    at: Annotated[
        BodyAt,
        Field(description="A log position or a time: restore the terms of then."),
    ]


class PreviewedPreset(TypedDict):
    """What a change of a preset would do; ``version`` is the present one, for If-Match.

    ``agents`` are those that are routed here and that the caller can see, with
    ``other_agents`` as the number of others. ``losing`` are those of them that could
    call the preset and no longer could, ``other_losing`` the number of others.
    `is_complete` is false if there are more than 1,000: then it is about these.
    """

    preset_id: UUID
    version: int
    changes: list[PresetChange]
    agents: list[RoutedAgent]
    other_agents: int
    losing: list[UUID]
    other_losing: int
    is_complete: bool


class RestoredPreset(PresetResource):
    """The preset after the restore, and the log position that its terms are of."""

    position: int
    changes: list[PresetChange]


@routes.post(
    "/api/llm-router/presets/{preset_id}/preview",
    answers={
        200: "preview of the preset; nothing was changed",
        403: NOT_OWNER,
        404: NO_SUCH_PRESET,
        422: BAD_TARGETS,
    },
    if_match=True,
    min_position=True,
    rate_limit=PREVIEWS,
    body_example=EXAMPLE,
)
async def post_preset_preview(
    request: web.Request,
    preset_id: UUID,
    body: PresetBody,
) -> Answer[PreviewedPreset]:
    """Preview a change of a preset; nothing is changed.

    Takes what the change takes, and refuses what that would refuse. Says what would
    differ, and which agents are routed to the preset.
    """
    edited, _ = await execute_for(
        request,
        decide_edit,
        EditPreset(preset_id=preset_id, terms=body.terms),
        if_match=if_match(request),
    )
    version = edited.preset.version - len(edited.preset.pending_events)
    found = await request.app[ROUTED_AGENTS].to_preset(request, preset_id)
    routed = found[:ROUTED_MAX]
    was_public = edited.before["visibility"] == PUBLIC
    losing = [
        each
        for each in routed
        if was_public and not edited.preset.may_be_called_by(each.agent["agent_id"])
    ]
    data: PreviewedPreset = {
        "preset_id": preset_id,
        "version": version,
        "changes": [*changes_between(edited.before, body.terms)],
        "agents": [each.agent for each in routed if each.is_seen],
        "other_agents": sum(not each.is_seen for each in routed),
        "losing": [each.agent["agent_id"] for each in losing if each.is_seen],
        "other_losing": sum(not each.is_seen for each in losing),
        "is_complete": len(found) <= ROUTED_MAX,
    }
    message = "preview of the preset; nothing was changed"
    return Answer(message=message, data=data, etag=version)


@routes.post(
    "/api/llm-router/presets/{preset_id}/restore",
    answers={
        200: "preset restored, or preset was already so",
        403: NOT_OWNER,
        404: NO_SUCH_PRESET,
        409: "the preset didn't exist then (`nothing_to_restore`)",
        422: f"a position beyond the end of the log; or today, {BAD_TARGETS}",
        **BUSY,
    },
    if_match=True,
    body_example={"at": 42},
)
async def post_preset_restore(
    request: web.Request,
    preset_id: UUID,
    body: PresetMoment,
) -> Answer[RestoredPreset]:
    """Restore what a preset said at an earlier position or time.

    For its owner. Recorded as a new change; grants stay as they are. Refused if a
    connection of then is retired: edit the preset instead.
    """
    # What was is the same at each attempt.
    async with turn_of(request):
        then, position = await request.config_dict[EVENT_LOG].load_past(
            preset_id, body.at
        )
    terms = then.terms if isinstance(then, ModelPreset) else None

    def present(edited: EditedPreset) -> Answer[RestoredPreset]:
        changed = edited.has_changed
        return Answer(
            message="preset restored" if changed else "preset was already so",
            data={
                **preset_resource(edited.preset),
                "position": position,
                "changes": [*changes_between(edited.before, edited.preset.terms)],
            },
            etag=edited.preset.version,
        )

    command = RestorePreset(preset_id=preset_id, terms=terms)
    return await dispatch(request, restore_preset, command, present)
