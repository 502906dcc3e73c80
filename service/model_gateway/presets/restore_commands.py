"""Restore a preset's terms of an earlier time: command and handler."""

from dataclasses import dataclass
from uuid import UUID

from service.errors import ConflictError, InvalidRequestError, Problem
from service.event_log.unit_of_work import UnitOfWork
from service.model_gateway.presets.commands import (
    EditedPreset,
    EditPreset,
    edit_preset,
    editable_preset,
)
from service.model_gateway.presets.terms import PresetTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePreset:
    """The earlier terms; None where there was no such preset then."""

    preset_id: UUID
    terms: PresetTerms | None


async def restore_preset(command: RestorePreset, work: UnitOfWork) -> EditedPreset:
    """Give a preset the terms of before, where they differ; its grants stay.

    :raises ConflictError: there was no such preset then
    :raises ServiceError: as an edit with these terms
    """
    if command.terms is None:
        await editable_preset(work, command.preset_id)
        raise ConflictError("the preset didn't exist then", code="nothing_to_restore")
    edit = EditPreset(preset_id=command.preset_id, terms=command.terms)
    try:
        return await edit_preset(edit, work)
    except InvalidRequestError as error:
        # The caller has sent no more than a moment.
        raise InvalidRequestError(
            f"what the preset said then can't be restored: {error.message}",
            code=error.code,
            problems=[Problem("at", f"{e.path}: {e.message}") for e in error.problems],
        ) from None
