"""Restoring what a preset said before, over HTTP."""

from uuid import UUID

from aiohttp import web

from service.http.app_keys import EVENT_LOG
from service.http.as_of import Moment
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.replays import BUSY, turn_of
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.commands import (
    EditedPreset,
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
    NO_SUCH_PRESET,
    NOT_OWNER,
)

routes = Routes("llm-router")


class RestoredPreset(PresetResource):
    """The preset after the restore, and the log position that its terms are of."""

    position: int
    changes: list[PresetChange]


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
    body: Moment,
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
