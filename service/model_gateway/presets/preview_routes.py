"""Previewing a change of a preset over HTTP: nothing is changed."""

from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.http.dispatch import execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.requests import if_match
from service.model_gateway.presets.body import PresetBody
from service.model_gateway.presets.commands import (
    EditPreset,
    decide_edit,
)
from service.model_gateway.presets.resource import (
    PresetChange,
    changes_between,
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
