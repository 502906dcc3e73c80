"""Connections and presets over HTTP: lists, and one of them, now or then."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.model_gateway.access import seen_connection, seen_preset
from projections.model_gateway.queries import (
    presets_on_connection,
    visible_connections,
    visible_presets,
)
from service.http.as_of import AtQuery
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn_if_past
from service.http.requests import QueryModel
from service.model_gateway.connections.resource import (
    ConnectionResource,
    connection_resource,
)
from service.model_gateway.dialects import Dialect
from service.model_gateway.presets.resource import PresetResource, preset_resource
from service.model_gateway.routing.decision import RoutingProblem
from service.model_gateway.routing.plan import plan_of

routes = Routes("llm-router")

PAGE_SIZE_MAX = 100
PAGE_SIZE = 25
FOLLOWERS = ("model_gateway", "agents")


class ConnectionListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None


class PresetListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None
    agent_id: Annotated[
        UUID | None, Field(description="Only those that this agent may call.")
    ] = None


class ConnectionList(TypedDict):
    connections: list[ConnectionResource]
    end_cursor: UUID | None


class PresetList(TypedDict):
    presets: list[PresetResource]
    end_cursor: UUID | None


class ConnectionWithPresets(ConnectionResource):
    """A connection, and the presets that name it now, at most 1,000."""

    preset_ids: list[UUID]


class PresetWithGrants(PresetResource):
    """A preset, and what all connections speak that its calls can be sent to.

    ``problem`` says why nobody can call it. ``granted_to`` are agents, null for callers
    who neither own it nor see everything.
    """

    dialects: list[Dialect]
    problem: RoutingProblem | None
    granted_to: list[UUID] | None


@routes.get(
    "/api/llm-router/connections",
    answers={200: "connections"},
    min_position=True,
)
async def get_model_connections(
    request: web.Request, query: ConnectionListQuery
) -> Answer[ConnectionList]:
    """List the caller's connections to servers of models, by id.

    Superusers and auditors see all.
    """
    principal = request[PRINCIPAL]
    async with reading(request, FOLLOWERS[0]) as snapshot:
        found = await visible_connections(
            snapshot.db,
            user_id=principal.user_id,
            everything=principal.sees_everything,
            after=query.after,
            limit=query.limit + 1,
        )
    page = page_of(found, query.limit, lambda connection: connection["id"])
    return Answer(
        message="connections",
        data=ConnectionList(connections=page.rows, end_cursor=page.end_cursor),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/llm-router/connections/{connection_id}",
    answers={
        200: "connection",
        404: "no such connection, or none that the caller can see",
        **BUSY,
    },
    min_position=True,
)
@in_turn_if_past
async def get_model_connection(
    request: web.Request,
    connection_id: UUID,
    query: AtQuery,
) -> Answer[ConnectionWithPresets]:
    """Get a connection, now or as of an earlier position or time.

    For its owner, superusers and auditors. A retired one has only a past.
    """
    async with reading(request, FOLLOWERS[0]) as snapshot:
        then, connection = await seen_connection(
            request, snapshot.db, connection_id, query.at
        )
        preset_ids = await presets_on_connection(snapshot.db, connection_id)
    return Answer(
        message="connection",
        data={**connection_resource(connection), "preset_ids": preset_ids},
        etag=connection.version,
        headers={POSITION_HEADER: str(then.position)},
    )


@routes.get("/api/llm-router/presets", answers={200: "presets"}, min_position=True)
async def get_presets(
    request: web.Request, query: PresetListQuery
) -> Answer[PresetList]:
    """List the presets that the caller can see, by id.

    These are the caller's own, public ones, and those granted to agents that the caller
    manages or reads; superusers and auditors see all. ``agent_id`` leaves those that
    one agent may call: public ones, and those granted to it as far as the caller sees
    that.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        found = await visible_presets(
            snapshot.db,
            user_id=principal.user_id,
            everything=principal.sees_everything,
            agent_id=query.agent_id,
            after=query.after,
            limit=query.limit + 1,
        )
    page = page_of(found, query.limit, lambda preset: preset["id"])
    return Answer(
        message="presets",
        data=PresetList(presets=page.rows, end_cursor=page.end_cursor),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/llm-router/presets/{preset_id}",
    answers={
        200: "preset",
        404: "no such preset, or none that the caller can see",
        **BUSY,
    },
    min_position=True,
)
@in_turn_if_past
async def get_preset(
    request: web.Request,
    preset_id: UUID,
    query: AtQuery,
) -> Answer[PresetWithGrants]:
    """Get a preset, now or as of an earlier position or time.

    Access is decided by current rights, also for the past. A retired one has only a
    past, for its owner, superusers and auditors.
    """
    async with reading(request, *FOLLOWERS) as snapshot:
        then, preset = await seen_preset(request, snapshot.db, preset_id, query.at)
        plan = await plan_of(preset, then)
    principal = request[PRINCIPAL]
    sees_grants = principal.sees_everything or preset.is_owned_by(principal.user_id)
    granted_to = [UUID(each) for each in preset.granted_to]
    return Answer(
        message="preset",
        data={
            **preset_resource(preset),
            "dialects": [Dialect(each) for each in plan.dialects],
            "problem": plan.problem,
            "granted_to": granted_to if sees_grants else None,
        },
        etag=preset.version,
        headers={POSITION_HEADER: str(then.position)},
    )
