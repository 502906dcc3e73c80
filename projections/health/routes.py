"""Probes and metrics for operators."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Literal

import psycopg
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from projections.health.metrics import Metrics
from projections.health.resource import (
    NO_PROOFS,
    FollowerHealth,
    ProofsHealth,
    Readiness,
    Status,
)
from service.connection_pool import PoolBusyError
from service.database import Db, Pool
from service.errors import RETRY_LATER
from service.follower_process import FollowerProcess
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.server import DRAINING

routes = Routes("operation", "Probes, metrics and the documents about this API.")
# Of whoever is signed in to the console: proxies keep the others inside.
console_routes = Routes("operation")

# As in the alert AgentRuntimeFollowerBehind.
BEHIND_EVENTS = 5000
FOLLOWERS = """
    SELECT p.follower, p.position, h.position, p.reason,
           coalesce(extract(epoch FROM now() - e.recorded_at), 0)::float8
      FROM events.head h
      LEFT JOIN read.position p ON true
      LEFT JOIN events.stored_event e ON e.notification_id = p.position + 1
     ORDER BY p.follower
"""


@dataclass(slots=True)
class Health:
    """The inputs of the probes.

    ``follower_process`` is None in a process that has started none; without a trace
    store, or proofs, theirs is None. ``left_out`` are followers that don't run, and may
    have left their position.
    """

    pool: Pool
    follower_process: FollowerProcess | None = None
    proofs: Callable[[Db], Awaitable[ProofsHealth]] | None = None
    trace_store_is_available: Callable[[], bool] | None = None
    left_out: Collection[str] = ()
    metrics: Metrics = field(init=False)

    def __post_init__(self) -> None:
        process = self.follower_process
        self.metrics = Metrics(None if process is None else process.metrics)


HEALTH = web.AppKey("health", Health)


@routes.get("/livez", answers={200: "alive"}, public=True, quiet=True)
async def get_livez(_request: web.Request) -> Answer[None]:
    """Check that the process answers.

    Depends on nothing else.
    """
    return Answer(message="alive", data=None)


@routes.get(
    "/readyz",
    answers={200: "ready, perhaps degraded", 503: "draining, or without its database"},
    public=True,
    quiet=True,
)
async def get_readyz(request: web.Request) -> Answer[Readiness]:
    """Check that requests can be answered.

    A stopped follower makes the service degraded, not unready: commands are still
    accepted, and the other read tables stay current. So does one that is more than 5000
    events behind, in whichever process it runs. So does a follower process that
    has ended: all read tables wait until it runs again. A failing trace store makes it
    degraded too: lists are answered without its data; and so does an event log that
    doesn't match its Merkle tree, and whatever keeps checkpoints of it from being
    signed. So do connections to the database that are all in use; then `log_position`
    is null.
    """
    health = request.app[HEALTH]
    try:
        async with health.pool.connection() as db:
            rows = await (await db.execute(FOLLOWERS)).fetchall()
            proofs = await health.proofs(db) if health.proofs else NO_PROOFS
    except PoolBusyError:
        # It is not unready because it has much to do.
        is_draining = request.app[DRAINING].started
        return _answer(health, "draining" if is_draining else "degraded", None, [])
    except psycopg.Error:
        return _answer(health, "unavailable", None, [])
    head = rows[0][2]
    followers: list[FollowerHealth] = [
        {
            "name": name,
            "position": at,
            "lag": head - at,
            "lag_s": round(max(lag_s, 0.0), 3),
            "stopped": reason,
        }
        for name, at, head, reason, lag_s in rows
        if name is not None and name not in health.left_out
    ]
    is_available = health.trace_store_is_available
    status: Status = "ready"
    if request.app[DRAINING].started:
        status = "draining"
    elif (
        any(each["stopped"] or each["lag"] > BEHIND_EVENTS for each in followers)
        or (
            health.follower_process is not None
            and health.follower_process.state != "running"
        )
        or (proofs.log_check is not None and proofs.log_check["contradiction"])
        or proofs.signing
        or (is_available is not None and not is_available())
    ):
        status = "degraded"
    return _answer(health, status, head, followers, proofs)


def _answer(
    health: Health,
    word: Status,
    head: int | None,
    followers: list[FollowerHealth],
    proofs: ProofsHealth = NO_PROOFS,
) -> Answer[Readiness]:
    trace_store: Literal["available", "suspended"] | None = None
    if health.trace_store_is_available is not None:
        trace_store = "available" if health.trace_store_is_available() else "suspended"
    process = health.follower_process
    data: Readiness = {
        "status": word,
        "log_position": head,
        "followers": followers,
        "follower_process": None if process is None else process.state,
        "log_check": proofs.log_check,
        "signing": proofs.signing,
        "trace_store": trace_store,
    }
    if word in ("ready", "degraded"):
        return Answer(message=word, data=data)
    return Answer(status=503, message=word, data=data, headers=RETRY_LATER)


@routes.get(
    "/metrics",
    answers={200: "metrics in the Prometheus text format"},
    public=True,
    quiet=True,
    content_type="text/plain",
)
async def get_metrics(request: web.Request) -> web.Response:
    """Get metrics in the Prometheus text format.

    Those of the follower process have the label `process="followers"`. They are
    collected at most once a second, for all who ask.
    """
    body = await request.app[HEALTH].metrics.text()
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


@console_routes.get(
    "/console/readyz",
    answers={200: "ready, perhaps degraded", 503: "draining, or without its database"},
    documented=False,
)
async def get_console_readyz(request: web.Request) -> Answer[Readiness]:
    """Check for the console that requests can be answered."""
    return await get_readyz(request)


@console_routes.get(
    "/console/metrics",
    answers={200: "metrics in the Prometheus text format"},
    documented=False,
    content_type="text/plain",
)
async def get_console_metrics(request: web.Request) -> web.Response:
    """Get metrics for the console."""
    return await get_metrics(request)
