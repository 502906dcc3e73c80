"""What a call would be sent to: the targets of a preset, and what is wrong there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from service.event_log.finder import Finder
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.dialects import in_order
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.terms import PresetTarget
from service.model_gateway.routing.decision import RoutingProblem
from service.secrets.aggregate import Secret
from service.users.aggregate import User

# A connection's id, and the model that it is asked for.
TargetKey = tuple[str, str]


class TargetProblem(StrEnum):
    """Why no call is sent to a target."""

    CONNECTION_RETIRED = "connection_retired"
    NO_CREDENTIAL = "no_credential"
    """The owner's secret was deleted, or can't be opened any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTarget:
    """A target with its connection, and why no call is sent there, if so."""

    target: PresetTarget
    connection: ModelConnection
    problem: TargetProblem | None

    @property
    def key(self) -> TargetKey:
        return self.target["connection_id"], self.target["model"]

    @property
    def base_url(self) -> str:
        return self.connection.settings["base_url"]

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
    def targets(self) -> list[PlannedTarget]:
        """Return those that a call can be sent to."""
        return [each for group in self.groups for each in group if not each.problem]

    @property
    def dialects(self) -> list[str]:
        """Return what the connections of all these speak."""
        spoken = [{*each.connection.settings["dialects"]} for each in self.targets]
        return in_order(set.intersection(*spoken)) if spoken else []

    @property
    def problem(self) -> RoutingProblem | None:
        if not self.targets:
            return RoutingProblem.NO_TARGET
        return None if self.dialects else RoutingProblem.NO_COMMON_DIALECT


async def plan_for(preset_id: str, agent_id: UUID, aggregates: Finder) -> Plan | None:
    """Return the plan of a preset; None where an agent may not call it."""
    preset = await aggregates.find(ModelPreset, UUID(preset_id))
    if preset is None or not preset.may_be_called_by(agent_id):
        return None
    return await plan_of(preset, aggregates)


async def plan_of(preset: ModelPreset, aggregates: Finder) -> Plan:
    """Return the plan of a preset, whose connections are its owner's."""
    groups = [
        [
            planned
            for target in group["targets"]
            if (planned := await _planned(target, aggregates)) is not None
        ]
        for group in preset.terms["groups"]
    ]
    return Plan(preset=preset, groups=tuple(map(tuple, groups)))


async def problems_of(
    preset_ids: Iterable[str | None], agent_id: UUID, aggregates: Finder
) -> Mapping[str, RoutingProblem | None]:
    """Return by preset why an agent can't call it; None where it can."""
    found: dict[str, RoutingProblem | None] = {}
    for preset_id in preset_ids:
        if preset_id is not None and preset_id not in found:
            plan = await plan_for(preset_id, agent_id, aggregates)
            found[preset_id] = (
                plan.problem if plan else RoutingProblem.PRESET_UNAVAILABLE
            )
    return found


async def _planned(target: PresetTarget, aggregates: Finder) -> PlannedTarget | None:
    connection = await aggregates.find(ModelConnection, UUID(target["connection_id"]))
    if connection is None:
        return None
    problem: TargetProblem | None = None
    if connection.is_retired:
        problem = TargetProblem.CONNECTION_RETIRED
    elif not await _has_credential(connection, aggregates):
        problem = TargetProblem.NO_CREDENTIAL
    return PlannedTarget(target=target, connection=connection, problem=problem)


async def _has_credential(connection: ModelConnection, aggregates: Finder) -> bool:
    """Whether the secret is there that a connection's calls send, if they send one."""
    credential, owner_id = connection.settings["credential"], connection.owner_id
    if credential is None:
        return True
    secret_id = Secret.create_id(owner_id, credential["secret_name"])
    secret = await aggregates.find(Secret, secret_id)
    if secret is None or secret.is_deleted:
        return False
    owner = await aggregates.find(User, UUID(owner_id))
    has_key = owner is None or not owner.key_is_destroyed
    return has_key and secret.sealed_id_of(secret.value_version) is not None
