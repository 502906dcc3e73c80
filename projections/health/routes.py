"""Probes and metrics, for whoever runs the service."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import psycopg
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, Gauge, generate_latest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import Field
from typing_extensions import TypedDict

from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.server import DRAINING

routes = Routes("operation")

FOLLOWERS = """
    SELECT p.follower, p.position, h.position, p.reason,
           coalesce(extract(epoch FROM now() - e.recorded_at), 0)::float8
      FROM events.head h
      LEFT JOIN read.position p ON true
      LEFT JOIN events.stored_event e ON e.notification_id = p.position + 1
     ORDER BY p.follower
"""
HEAD = Gauge("agent_runtime_log_position", "Position of the log's last event.")


@dataclass(slots=True)
class Health:
    """What probes look at; ``trace_store_is_well`` is None without a trace store."""

    pool: AsyncConnectionPool[AsyncConnection[Any]]
    trace_store_is_well: Callable[[], bool] | None = None


HEALTH = web.AppKey("health", Health)


class FollowerHealth(TypedDict):
    name: str
    position: int
    lag: int
    lag_s: Annotated[float, Field(description="Age of the oldest event that lacks.")]
    stopped: str | None


class Readiness(TypedDict):
    status: Literal["ready", "degraded", "draining", "unavailable"]
    log_position: int | None
    followers: list[FollowerHealth]
    trace_store: Annotated[
        Literal["well", "left alone"] | None,
        Field(description="Left alone after failures; null without a trace store."),
    ]


@routes.get("/livez", answers={200: "alive"}, public=True)
async def get_livez(_request: web.Request) -> Answer[None]:
    """Say that the process answers; depends on nothing else."""
    return Answer(message="alive", data=None)


@routes.get(
    "/readyz",
    answers={200: "ready, perhaps degraded", 503: "draining, or without its database"},
    public=True,
)
async def get_readyz(request: web.Request) -> Answer[Readiness]:
    """Say whether requests can be answered.

    A follower that has stopped makes the service degraded, not unready: the log
    still takes commands, and what the other followers build stays fresh. So does a
    trace store that fails: lists are served without what it would add.
    """
    health = request.app[HEALTH]
    try:
        async with health.pool.connection() as db:
            rows = await (await db.execute(FOLLOWERS)).fetchall()
    except (psycopg.Error, PoolTimeout):
        return _answer(health, "unavailable", None, [])
    head = rows[0][2]
    HEAD.set(head)
    followers: list[FollowerHealth] = [
        {
            "name": name,
            "position": at,
            "lag": head - at,
            "lag_s": round(max(lag_s, 0.0), 3),
            "stopped": reason,
        }
        for name, at, head, reason, lag_s in rows
        if name is not None
    ]
    if request.app[DRAINING].started:
        return _answer(health, "draining", head, followers)
    is_well = health.trace_store_is_well
    if any(follower["stopped"] for follower in followers) or (
        is_well is not None and not is_well()
    ):
        return _answer(health, "degraded", head, followers)
    return _answer(health, "ready", head, followers)


def _answer(
    health: Health,
    word: Literal["ready", "degraded", "draining", "unavailable"],
    head: int | None,
    followers: list[FollowerHealth],
) -> Answer[Readiness]:
    trace_store: Literal["well", "left alone"] | None = None
    if health.trace_store_is_well is not None:
        trace_store = "well" if health.trace_store_is_well() else "left alone"
    data: Readiness = {
        "status": word,
        "log_position": head,
        "followers": followers,
        "trace_store": trace_store,
    }
    if word in ("ready", "degraded"):
        return Answer(message=word, data=data)
    return Answer(status=503, message=word, data=data, headers={"Retry-After": "1"})


@routes.get(
    "/metrics",
    answers={200: "metrics in the Prometheus text format"},
    public=True,
    content_type="text/plain",
)
async def get_metrics(_request: web.Request) -> web.Response:
    """Measure the service, for Prometheus."""
    return web.Response(
        body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST}
    )
