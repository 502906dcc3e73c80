"""Replace and restore the registry of tiers: commands and handlers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from service.errors import ForbiddenError, InvalidRequestError, Problem
from service.event_log.unit_of_work import UnitOfWork
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.tiers.aggregate import ModelTiers
from service.model_gateway.tiers.policy import may_replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceTiers:
    """The complete registry: the preset of each tier."""

    tiers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTiers:
    """The complete registry of an earlier time."""

    tiers: Mapping[str, str]


class ReplacedTiers(NamedTuple):
    """The registry after a change, and before; ``changed`` has null for a gone tier.

    ``left_out`` are tiers of then whose presets are retired.
    """

    registry: ModelTiers
    before: Mapping[str, str]
    changed: Mapping[str, str | None]
    left_out: Sequence[str] = ()

    @property
    def version(self) -> int:
        """The registry's; 0 while it has never had a tier."""
        is_new = bool(self.registry.pending_events) and not self.changed
        return 0 if is_new else self.registry.version


async def replace_tiers(command: ReplaceTiers, work: UnitOfWork) -> ReplacedTiers:
    """Replace the registry.

    :raises ForbiddenError: the caller is not a superuser
    :raises InvalidRequestError: there is no such preset
    """
    replaced = await decide_replacement(command, work)
    if replaced.changed:
        work.save(replaced.registry)
    return replaced


async def decide_replacement(command: ReplaceTiers, work: UnitOfWork) -> ReplacedTiers:
    """Replace the registry without saving it; raises what that does."""
    registry = await _registry(work)
    gone = await _gone(work, command.tiers)
    if gone:
        raise InvalidRequestError(
            "a tier names no preset",
            code="unknown_preset",
            problems=[Problem(f"tiers.{tier}", "no such preset") for tier in gone],
        )
    before = registry.tiers
    return ReplacedTiers(registry, before, registry.replace(command.tiers))


async def restore_tiers(command: RestoreTiers, work: UnitOfWork) -> ReplacedTiers:
    """Give the registry the tiers of before; those of retired presets are left out.

    :raises ForbiddenError: the caller is not a superuser
    """
    registry = await _registry(work)
    gone = await _gone(work, command.tiers)
    before = registry.tiers
    kept = {tier: each for tier, each in command.tiers.items() if tier not in gone}
    changed = registry.replace(kept)
    if changed:
        work.save(registry)
    return ReplacedTiers(registry, before, changed, gone)


async def _registry(work: UnitOfWork) -> ModelTiers:
    if not may_replace(work.principal):
        raise ForbiddenError("only superusers change the registry of tiers")
    found = await work.find(ModelTiers, ModelTiers.create_id())
    work.match(found)
    return found or ModelTiers()


async def _gone(work: UnitOfWork, tiers: Mapping[str, str]) -> list[str]:
    """Return the tiers whose presets don't exist, or no longer."""
    gone = []
    for tier, preset_id in tiers.items():
        preset = await work.find(ModelPreset, UUID(preset_id))
        if preset is None or preset.is_retired:
            gone.append(tier)
    return gone
