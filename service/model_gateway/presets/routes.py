"""The commands of presets over HTTP."""

from uuid import UUID

from aiohttp import web

from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.body import FALL_BACK_ON, NewPreset, PresetBody
from service.model_gateway.presets.commands import (
    EditedPreset,
    EditPreset,
    MakePreset,
    RetirePreset,
    edit_preset,
    make_preset,
    retire_preset,
)
from service.model_gateway.presets.resource import PresetResource, preset_resource

routes = Routes("llm-router")

NO_SUCH_PRESET = "no such preset, or none that the caller can see"
NOT_OWNER = "the caller isn't its owner"
BAD_TARGETS = (
    "a target names no connection of the caller (`unknown_connection`), or the "
    "connections have no dialect in common (`no_common_dialect`)"
)
CONNECTION = "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11"
EXAMPLE = {
    "name": "Coding",
    "description": "Sonnet, and what answers when it can't",
    "visibility": "private",
    "groups": [
        {
            "targets": [
                {
                    "connection_id": CONNECTION,
                    "model": "claude-sonnet-4-5",
                    "weight": 1,
                    "context_window": 200_000,
                }
            ]
        },
        {
            "targets": [
                {
                    "connection_id": CONNECTION,
                    "model": "claude-haiku-4-5",
                    "weight": 1,
                    "context_window": 200_000,
                }
            ]
        },
    ],
    "attempts": 2,
    "total_timeout_s": 1800,
    "first_byte_timeout_s": 300,
    "idle_timeout_s": 120,
    "sticky_s": 3600,
    "fall_back_on": FALL_BACK_ON,
}


@routes.post(
    "/api/llm-router/presets",
    answers={201: "preset made", 422: BAD_TARGETS},
    body_example=EXAMPLE,
)
async def post_preset(request: web.Request, body: NewPreset) -> Answer[PresetResource]:
    """Make a preset.

    The caller becomes its owner, and its targets are on the caller's connections. An
    agent calls it once its manager routes a model to it, while it is public or granted
    to the agent.
    """

    def present(preset: ModelPreset) -> Answer[PresetResource]:
        return Answer(
            status=201,
            message="preset made",
            data=preset_resource(preset),
            etag=preset.version,
            headers={"Location": f"/api/llm-router/presets/{preset.id}"},
        )

    return await dispatch(request, make_preset, MakePreset(terms=body.terms), present)


@routes.put(
    "/api/llm-router/presets/{preset_id}",
    answers={
        200: "preset edited, or preset was already so",
        403: NOT_OWNER,
        404: NO_SUCH_PRESET,
        422: BAD_TARGETS,
    },
    if_match=True,
    body_example=EXAMPLE,
)
async def put_preset(
    request: web.Request,
    preset_id: UUID,
    body: PresetBody,
) -> Answer[PresetResource]:
    """Change all that a preset says.

    For its owner alone, whose secrets its calls send. Its grants stay.
    """

    def present(edited: EditedPreset) -> Answer[PresetResource]:
        changed = edited.has_changed
        return Answer(
            message="preset edited" if changed else "preset was already so",
            data=preset_resource(edited.preset),
            etag=edited.preset.version,
        )

    command = EditPreset(preset_id=preset_id, terms=body.terms)
    return await dispatch(request, edit_preset, command, present)


@routes.delete(
    "/api/llm-router/presets/{preset_id}",
    answers={
        200: "preset retired",
        403: "the caller is neither its owner nor a superuser",
        404: NO_SUCH_PRESET,
    },
    if_match=True,
)
async def delete_preset(
    request: web.Request, preset_id: UUID
) -> Answer[PresetResource]:
    """Retire a preset.

    This can't be undone: no agent is routed to it any more, and it can't be found. Its
    history is kept.
    """
    return await dispatch(
        request,
        retire_preset,
        RetirePreset(preset_id=preset_id),
        lambda preset: Answer(
            message="preset retired",
            data=preset_resource(preset),
            etag=preset.version,
        ),
    )
