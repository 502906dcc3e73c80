"""What a call would be sent to: the targets of a preset that are there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.dialects import in_order
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.terms import PresetTarget
from service.model_gateway.routing.decision import Problem

A = TypeVar("A", bound=LoggedAggregate)


class Finder(Protocol):
    """Finds aggregates: a unit of work, or the log as of a position."""

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTarget:
    """A target, and its connection; None where that is retired."""

    target: PresetTarget
    connection: ModelConnection | None

    def fits(self, input_tokens: int) -> bool | None:
        """Whether the model's window is large enough; None if it isn't known."""
        window = self.target["context_window"]
        return None if window is None else input_tokens <= window


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The targets of a preset, in groups, and what all of them speak."""

    preset: ModelPreset
    groups: tuple[tuple[PlannedTarget, ...], ...]

    @property
    def targets(self) -> Iterator[PlannedTarget]:
        """Yield those whose connections are there."""
        for group in self.groups:
            yield from (each for each in group if each.connection is not None)

    @property
    def dialects(self) -> list[str]:
        """Return what every connection speaks that is there."""
        spoken = [
            {*each.connection.settings["dialects"]}
            for each in self.targets
            if each.connection is not None
        ]
        return in_order(set.intersection(*spoken)) if spoken else []

    @property
    def problem(self) -> Problem | None:
        if next(self.targets, None) is None:
            return Problem.NO_TARGET
        return None if self.dialects else Problem.NO_COMMON_DIALECT


async def plan_of(preset_id: str, agent_id: UUID, aggregates: Finder) -> Plan | None:
    """Return the plan of a preset; None where an agent may not call it.

    Its connections are its owner's: who else named them made no preset of it.
    """
    preset = await aggregates.find(ModelPreset, UUID(preset_id))
    if preset is None or not preset.may_be_called_by(agent_id):
        return None
    groups = []
    for group in preset.terms["groups"]:
        planned = []
        for target in group["targets"]:
            connection = await aggregates.find(
                ModelConnection, UUID(target["connection_id"])
            )
            is_there = connection is not None and not connection.is_retired
            planned.append(
                PlannedTarget(
                    target=target, connection=connection if is_there else None
                )
            )
        groups.append(tuple(planned))
    return Plan(preset=preset, groups=tuple(groups))
