"""Events of connections, presets, tiers and routing to their read tables."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson

from projections.engine.projector import Projector
from projections.model_gateway.table import (
    ConnectionRow,
    Pair,
    PresetRow,
    RouteRow,
    replace_grants,
    replace_routes,
    replace_targets,
    replace_tiers,
    select_connections,
    select_presets,
    upsert_connections,
    upsert_presets,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.terms import PUBLIC, targets_of
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.tiers.aggregate import ModelTiers


class ModelGatewayProjector(Projector):
    name = "model_gateway"
    version = 2  # with the record modes of connections
    events = (
        ModelConnection.Created,
        ModelConnection.Edited,
        ModelConnection.Retired,
        ModelPreset.Created,
        ModelPreset.Edited,
        ModelPreset.GrantedToAgent,
        ModelPreset.GrantRevoked,
        ModelPreset.Retired,
        ModelTiers.Replaced,
        ModelRouting.Replaced,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        ids = {each.aggregate_id for each in events}
        connections = await select_connections(db, ids)
        presets = await select_presets(db, ids)
        grants: dict[Pair, bool] = {}
        retired: set[UUID] = set()
        targets: dict[UUID, set[UUID]] = {}
        tiers: dict[str, UUID | None] = {}
        routes: dict[UUID, list[RouteRow]] = {}
        for recorded in events:
            event = recorded.event
            _fold_connection(connections, recorded)
            _fold_preset(presets, recorded)
            _fold_grants(grants, retired, event)
            if isinstance(event, ModelPreset.Created | ModelPreset.Edited):
                targets[recorded.aggregate_id] = {
                    UUID(each["connection_id"]) for _, each in targets_of(event.terms)
                }
            if isinstance(event, ModelTiers.Replaced):
                for tier, preset in event.tiers.items():
                    tiers[tier] = UUID(preset) if preset else None
            elif isinstance(event, ModelRouting.Replaced):
                routes[UUID(event.agent_id)] = _route_rows(event)
        await upsert_connections(db, connections.values())
        await upsert_presets(db, presets.values())
        await replace_grants(db, grants, retired)
        await replace_targets(db, targets)
        await replace_tiers(db, tiers)
        await replace_routes(db, routes)


def _fold_connection(rows: dict[UUID, ConnectionRow], recorded: RecordedEvent) -> None:
    event = recorded.event
    if isinstance(event, ModelConnection.Created):
        rows[recorded.aggregate_id] = ConnectionRow(
            id=recorded.aggregate_id,
            owner_id=UUID(event.owner_id),
            settings=_json(event.settings),
            version=recorded.version,
            created_at=event.timestamp,
            updated_at=event.timestamp,
        )
        return
    row = rows.get(recorded.aggregate_id)
    if row is None:
        return
    row.version, row.updated_at = recorded.version, event.timestamp
    if isinstance(event, ModelConnection.Edited):
        row.settings = _json(event.settings)
    elif isinstance(event, ModelConnection.Retired):
        row.is_retired = True


def _fold_preset(rows: dict[UUID, PresetRow], recorded: RecordedEvent) -> None:
    event = recorded.event
    if isinstance(event, ModelPreset.Created):
        rows[recorded.aggregate_id] = PresetRow(
            id=recorded.aggregate_id,
            owner_id=UUID(event.owner_id),
            terms=_json(event.terms),
            is_public=event.terms["visibility"] == PUBLIC,
            version=recorded.version,
            created_at=event.timestamp,
            updated_at=event.timestamp,
        )
        return
    row = rows.get(recorded.aggregate_id)
    if row is None:
        return
    row.version, row.updated_at = recorded.version, event.timestamp
    if isinstance(event, ModelPreset.Edited):
        row.terms = _json(event.terms)
        row.is_public = event.terms["visibility"] == PUBLIC
    elif isinstance(event, ModelPreset.Retired):
        row.is_retired = True


def _fold_grants(grants: dict[Pair, bool], retired: set[UUID], event: Any) -> None:
    match event:
        case ModelPreset.GrantedToAgent():
            grants[event.originator_id, UUID(event.agent_id)] = True
        case ModelPreset.GrantRevoked():
            grants[event.originator_id, UUID(event.agent_id)] = False
        case ModelPreset.Retired():
            retired.add(event.originator_id)


def _route_rows(event: ModelRouting.Replaced) -> list[RouteRow]:
    own = event.terms["tiers"]
    return [
        RouteRow(
            agent_id=UUID(event.agent_id),
            number=number,
            model=route["model"],
            preset_id=UUID(preset) if preset else None,
            tier=route["tier"],
            is_own=route["tier"] in own,
        )
        for number, route in enumerate(event.terms["routes"])
        for preset in [route["preset_id"] or own.get(route["tier"] or "")]
    ]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
