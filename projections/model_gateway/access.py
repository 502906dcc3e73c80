"""Load what a caller asks about, now or then, if it exists for the caller.

Access is decided by present rights, also for the past.
"""

from datetime import datetime
from uuid import UUID

from aiohttp import web

from projections.engine.time_travel import AsOf, as_of
from projections.model_gateway.queries import sees_granted
from service.agents.aggregate import Agent
from service.agents.policy import may_see_agent
from service.database import Db
from service.errors import NotFoundError
from service.http.app_keys import EVENT_LOG
from service.http.authentication import PRINCIPAL
from service.model_gateway.connections import policy as of_connections
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.presets import policy as of_presets
from service.model_gateway.presets.aggregate import ModelPreset

Moment = int | datetime | None


async def log_at(request: web.Request, db: Db, at: Moment) -> AsOf:
    """Return the log as of a moment; None is now."""
    log = request.app[EVENT_LOG]
    return await as_of(db, log.mapper, at, None if at is None else log.snapshots)


async def seen_connection(
    request: web.Request, db: Db, connection_id: UUID, at: Moment
) -> tuple[AsOf, ModelConnection]:
    """Return a connection as of a moment; a retired one has only a past.

    :raises NotFoundError: there is none, or none that the caller can see
    """
    now = await log_at(request, db, None)
    known = await now.find(ModelConnection, connection_id)
    if known is None or not of_connections.may_see(request[PRINCIPAL], known):
        raise NotFoundError("no such connection")
    then = now if at is None else await log_at(request, db, at)
    found = known if at is None else await then.find(ModelConnection, connection_id)
    if found is None or found.is_retired:
        raise NotFoundError("no such connection")
    return then, found


async def seen_preset(
    request: web.Request, db: Db, preset_id: UUID, at: Moment
) -> tuple[AsOf, ModelPreset]:
    """Return a preset as of a moment; a retired one has only a past.

    :raises NotFoundError: there is none, or none that the caller can see
    """
    principal = request[PRINCIPAL]
    now = await log_at(request, db, None)
    known = await now.find(ModelPreset, preset_id)
    if known is None or not of_presets.may_see(
        principal,
        known,
        sees_granted=await sees_granted(
            db, preset_id=preset_id, user_id=principal.user_id
        ),
    ):
        raise NotFoundError("no such preset")
    sees_past = principal.sees_everything or known.is_owned_by(principal.user_id)
    if known.is_retired and not sees_past:
        raise NotFoundError("no such preset")
    then = now if at is None else await log_at(request, db, at)
    found = known if at is None else await then.find(ModelPreset, preset_id)
    if found is None or found.is_retired:
        raise NotFoundError("no such preset")
    return then, found


async def seen_agent(
    request: web.Request, db: Db, agent_id: UUID, at: Moment
) -> tuple[AsOf, Agent | None]:
    """Return the agent of a moment, None if it wasn't there yet, for who sees it now.

    :raises NotFoundError: there is none, or none that the caller can see
    """
    now = await log_at(request, db, None)
    known = await now.find(Agent, agent_id)
    if known is None or not may_see_agent(request[PRINCIPAL], known):
        raise NotFoundError("no such agent")
    if at is None:
        return now, known
    then = await log_at(request, db, at)
    return then, await then.find(Agent, agent_id)
