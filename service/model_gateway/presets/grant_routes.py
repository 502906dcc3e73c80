"""Grants of presets to agents, over HTTP."""

from uuid import UUID

from aiohttp import web

from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.commands import (
    GrantPreset,
    RevokePreset,
    grant_preset,
    revoke_preset,
)
from service.model_gateway.presets.resource import (
    PresetGrantResource,
    preset_grant_resource,
)
from service.model_gateway.presets.routes import NO_SUCH_PRESET, NOT_OWNER

routes = Routes("llm-router")


@routes.put(
    "/api/llm-router/presets/{preset_id}/agents/{agent_id}",
    answers={
        200: "preset granted, or preset was already granted",
        403: NOT_OWNER,
        404: f"{NO_SUCH_PRESET}; or no such agent",
        409: "the agent is retired (`agent_retired`), or the preset has too many "
        "grants (`limit_reached`)",
    },
    if_match=True,
)
async def put_preset_agent(
    request: web.Request,
    preset_id: UUID,
    agent_id: UUID,
) -> Answer[PresetGrantResource]:
    """Grant a preset to an agent.

    For its owner alone, whose secrets the agent's calls send. The agent calls it once
    its manager routes a model to it.
    """

    def present(result: tuple[ModelPreset, bool]) -> Answer[PresetGrantResource]:
        preset, changed = result
        message = "preset granted" if changed else "preset was already granted"
        return _answer(preset, agent_id, message)

    command = GrantPreset(preset_id=preset_id, agent_id=agent_id)
    return await dispatch(request, grant_preset, command, present)


@routes.delete(
    "/api/llm-router/presets/{preset_id}/agents/{agent_id}",
    answers={
        200: "grant revoked, or preset wasn't granted",
        403: "the caller is neither its owner nor a superuser",
        404: NO_SUCH_PRESET,
    },
    if_match=True,
)
async def delete_preset_agent(
    request: web.Request,
    preset_id: UUID,
    agent_id: UUID,
) -> Answer[PresetGrantResource]:
    """Take a preset back from an agent.

    Its routes to the preset stay, without effect, unless the preset is public.
    """

    def present(result: tuple[ModelPreset, bool]) -> Answer[PresetGrantResource]:
        preset, changed = result
        message = "grant revoked" if changed else "preset wasn't granted"
        return _answer(preset, agent_id, message)

    command = RevokePreset(preset_id=preset_id, agent_id=agent_id)
    return await dispatch(request, revoke_preset, command, present)


def _answer(
    preset: ModelPreset, agent_id: UUID, message: str
) -> Answer[PresetGrantResource]:
    return Answer(
        message=message,
        data=preset_grant_resource(preset, agent_id),
        etag=preset.version,
    )
