"""Probes and metrics for operators."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

import psycopg
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field
from typing_extensions import TypedDict

from projections.audit.proofs.signer_problems import signers_problem
from projections.health.metrics import Metrics
from service.connection_pool import PoolBusyError
from service.database import Pool
from service.errors import RETRY_LATER
from service.follower_process import FollowerProcess, State
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.server import DRAINING

routes = Routes("operation")
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
LOG_CHECK = """
    SELECT c.position, c.completed_at, c.contradiction
      FROM read.log_check c LEFT JOIN events.head h ON h.epoch = c.epoch
     WHERE h.epoch IS NOT NULL OR c.epoch IS NULL
"""

Status = Literal["ready", "degraded", "draining", "unavailable"]


@dataclass(slots=True)
class Health:
    """The inputs of the probes.

    ``follower_process`` is None in a process that has started none; without a trace
    store the last one is None.
    """

    pool: Pool
    follower_process: FollowerProcess | None = None
    trace_store_is_available: Callable[[], bool] | None = None
    metrics: Metrics = field(init=False)

    def __post_init__(self) -> None:
        process = self.follower_process
        self.metrics = Metrics(None if process is None else process.metrics)


HEALTH = web.AppKey("health", Health)


class FollowerHealth(TypedDict):
    name: str
    position: int
    lag: int
    lag_s: Annotated[
        float, Field(description="Age of the oldest unprocessed event, in seconds.")
    ]
    stopped: str | None


class LogCheckHealth(TypedDict):
    position: Annotated[
        int, Field(description="Last event compared with the Merkle tree in this pass.")
    ]
    completed_at: Annotated[
        datetime | None,
        Field(description="End of the last pass over the whole log without a finding."),
    ]
    contradiction: Annotated[
        str | None,
        Field(description="Which events are missing or changed; null for none known."),
    ]


class Readiness(TypedDict):
    status: Status
    log_position: int | None
    followers: list[FollowerHealth]
    follower_process: Annotated[
        State | None,
        Field(
            description="A child process that has ended is restarted within 30 s. Null "
            "in a process that has started none."
        ),
    ]
    log_check: LogCheckHealth | None
    signing: Annotated[
        str | None,
        Field(
            description="What keeps checkpoints of the log from being signed, or what "
            "became of them; null for nothing."
        ),
    ]
    trace_store: Annotated[
        Literal["available", "suspended"] | None,
        Field(description="Suspended after failures; null without a trace store."),
    ]


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
            checked = await (await db.execute(LOG_CHECK)).fetchone()
            signing = await signers_problem(db)
    except PoolBusyError:
        # It is not unready because it has much to do.
        is_draining = request.app[DRAINING].started
        return _answer(
            health, "draining" if is_draining else "degraded", None, [], None
        )
    except psycopg.Error:
        return _answer(health, "unavailable", None, [], None)
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
        if name is not None
    ]
    log_check: LogCheckHealth | None = None
    if checked is not None:
        position, completed_at, contradiction = checked
        log_check = {
            "position": position,
            "completed_at": completed_at,
            "contradiction": contradiction,
        }
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
        or (log_check is not None and log_check["contradiction"])
        or signing
        or (is_available is not None and not is_available())
    ):
        status = "degraded"
    return _answer(health, status, head, followers, log_check, signing)


def _answer(
    health: Health,
    word: Status,
    head: int | None,
    followers: list[FollowerHealth],
    log_check: LogCheckHealth | None,
    signing: str | None = None,
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
        "log_check": log_check,
        "signing": signing,
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
