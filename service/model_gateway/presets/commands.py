"""Make, edit, lend and retire presets: commands and handlers."""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.policy import may_see_agent
from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.dialects import in_order
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.policy import (
    may_edit,
    may_lend,
    may_see,
    may_take_back,
)
from service.model_gateway.presets.terms import PresetTerms, targets_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MakePreset:
    terms: PresetTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPreset:
    preset_id: UUID
    terms: PresetTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirePreset:
    preset_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantPreset:
    preset_id: UUID
    agent_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokePreset:
    preset_id: UUID
    agent_id: UUID


class EditedPreset(NamedTuple):
    """A preset after a change, its terms before, and whether they differ."""

    preset: ModelPreset
    before: PresetTerms
    has_changed: bool


async def make_preset(command: MakePreset, work: UnitOfWork) -> ModelPreset:
    """Make a preset, owned by the caller.

    :raises InvalidRequestError: a target names no connection of the caller, or the
        connections have no dialect in common
    """
    await _refuse_bad_targets(work, command.terms)
    preset = ModelPreset(owner_id=str(work.principal.user_id), terms=command.terms)
    work.save(preset)
    return preset


async def edit_preset(command: EditPreset, work: UnitOfWork) -> EditedPreset:
    """Change a preset.

    :raises ServiceError: as :func:`decide_edit`
    """
    edited = await decide_edit(command, work)
    work.save(edited.preset)
    return edited


async def decide_edit(command: EditPreset, work: UnitOfWork) -> EditedPreset:
    """Change a preset without saving it.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller isn't its owner
    :raises InvalidRequestError: as :func:`make_preset`
    """
    preset = await editable_preset(work, command.preset_id)
    await _refuse_bad_targets(work, command.terms)
    before = preset.terms
    return EditedPreset(preset, before, preset.edit(command.terms))


async def retire_preset(command: RetirePreset, work: UnitOfWork) -> ModelPreset:
    """Retire a preset permanently; no agent is routed to it afterwards.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    preset = await visible_preset(work, command.preset_id)
    if not may_take_back(work.principal, preset):
        raise ForbiddenError("only its owner and superusers retire a preset")
    work.match(preset)
    preset.retire()
    work.save(preset)
    return preset


async def grant_preset(
    command: GrantPreset, work: UnitOfWork
) -> tuple[ModelPreset, bool]:
    """Let an agent be routed to a preset; return it, and whether that is new.

    :raises NotFoundError: there is none, or none that the caller can see; or no such
        agent
    :raises ForbiddenError: the caller isn't the preset's owner
    :raises ConflictError: the agent is retired, or there are too many grants
    """
    preset = await visible_preset(work, command.preset_id)
    if not may_lend(work.principal, preset):
        raise ForbiddenError("only its owner lends a preset to an agent")
    agent = await work.find(Agent, command.agent_id)
    if agent is None:
        raise NotFoundError("no such agent")
    agent.refuse_if_retired()
    work.match(preset)
    changed = preset.grant(command.agent_id)
    work.save(preset)
    return preset, changed


async def revoke_preset(
    command: RevokePreset, work: UnitOfWork
) -> tuple[ModelPreset, bool]:
    """Take a preset back from an agent; return it, and whether it was granted.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    preset = await visible_preset(work, command.preset_id)
    if not may_take_back(work.principal, preset):
        raise ForbiddenError("only its owner and superusers take a preset back")
    work.match(preset)
    changed = preset.revoke(command.agent_id)
    work.save(preset)
    return preset, changed


async def editable_preset(work: UnitOfWork, preset_id: UUID) -> ModelPreset:
    """Load a preset that the caller may change, at the version of If-Match.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller isn't its owner
    """
    preset = await visible_preset(work, preset_id)
    if not may_edit(work.principal, preset):
        raise ForbiddenError(
            "only its owner changes a preset: its calls send the owner's secrets"
        )
    work.match(preset)
    return preset


async def visible_preset(work: UnitOfWork, preset_id: UUID) -> ModelPreset:
    """Load a preset that exists for the caller.

    :raises NotFoundError: the same for none, a retired one and an invisible one
    """
    preset = await work.find(ModelPreset, preset_id)
    if (
        preset is None
        or preset.is_retired
        or not may_see(
            work.principal, preset, sees_granted=await _sees_granted(work, preset)
        )
    ):
        raise NotFoundError("no such preset")
    return preset


async def _sees_granted(work: UnitOfWork, preset: ModelPreset) -> bool:
    if may_see(work.principal, preset, sees_granted=False):
        return False
    for agent_id in preset.granted_to:
        agent = await work.find(Agent, UUID(agent_id))
        if agent is not None and may_see_agent(work.principal, agent):
            return True
    return False


async def _refuse_bad_targets(work: UnitOfWork, terms: PresetTerms) -> None:
    """Refuse targets on connections that aren't there, or speak different dialects.

    The caller is the preset's owner, whose secrets its calls send.
    """
    spoken: list[set[str]] = []
    unknown: list[Problem] = []
    for path, target in targets_of(terms):
        connection = await work.find(ModelConnection, UUID(target["connection_id"]))
        if (
            connection is None
            or connection.is_retired
            or not connection.is_owned_by(work.principal.user_id)
        ):
            words = f"no such connection: {target['connection_id']}"
            unknown.append(Problem(f"{path}.connection_id", words))
        else:
            spoken.append({*connection.settings["dialects"]})
    if unknown:
        raise InvalidRequestError(
            "a target names no connection of yours; a preset calls those of its owner",
            code="unknown_connection",
            problems=unknown,
        )
    if not set.intersection(*spoken):
        each = " / ".join(", ".join(in_order(dialects)) for dialects in spoken)
        raise InvalidRequestError(
            "the targets have no dialect in common, and none is translated: their "
            f"connections speak {each}; make a preset for each dialect",
            code="no_common_dialect",
            problems=[Problem("groups", "no dialect in common")],
        )
