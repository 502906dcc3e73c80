"""Plans for the tests, in memory."""

from collections.abc import Sequence
from typing import Any

from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.plan import Plan, PlannedTarget, TargetProblem
from tests.support.connectors.making import OWNER
from tests.support.model_gateway.making import connection_of, target, terms

CONNECTION = connection_of(OWNER)


def planned(
    model: str,
    weight: int = 1,
    window: int | None = None,
    *,
    problem: TargetProblem | None = None,
    connection: ModelConnection = CONNECTION,
) -> PlannedTarget:
    asked = target(connection, model)
    asked["weight"], asked["context_window"] = weight, window
    return PlannedTarget(target=asked, connection=connection, problem=problem)


def plan(*groups: Sequence[PlannedTarget], **other: Any) -> Plan:
    said = terms(*[[each.target for each in group] for group in groups], **other)
    preset = ModelPreset(owner_id=str(OWNER.user_id), terms=said)
    return Plan(preset=preset, groups=tuple(map(tuple, groups)))
