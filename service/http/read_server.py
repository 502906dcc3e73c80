"""Choose the server of a read: the replica, as long as its answer is as good."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Final

from aiohttp import hdrs, web
from prometheus_client import Counter

from service.errors import (
    MisdirectedError,
    ServiceError,
    TooManyRequestsError,
    UnauthenticatedError,
    UnavailableError,
)
from service.event_log.read_replica import (
    ReadReplica,
    ReadServer,
    ReadServers,
    ReplicaLostError,
)

READ_SERVERS = web.AppKey("read_servers", ReadServers)
READ_SERVER: web.RequestKey[ReadServer] = web.RequestKey("read_server")

READS_ONLY = web.AppKey("reads_only", bool)

READING: Final = (hdrs.METH_GET, hdrs.METH_HEAD)
# A refusal that doesn't come from what the server has.
SAME_EVERYWHERE: Final = (TooManyRequestsError, UnauthenticatedError)
FROM_ITS_STATE: Final = frozenset(
    {
        "log_contradicted",
        "no_checkpoint_yet",
        "not_built_yet",
        "position_not_reached",
    }
)

READS = Counter(
    "agent_runtime_reads_total",
    "Reads, by the server that they were asked of: primary or replica.",
    ["server"],
)
REPEATED = Counter(
    "agent_runtime_reads_repeated_total",
    "Reads that the primary answered instead of the read replica, by reason: behind, "
    "lost or refused.",
    ["reason"],
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def refuse_writes(request: web.Request) -> None:
    """Refuse a command of a process that only reads.

    :raises MisdirectedError: another process answers it
    """
    if request.method not in READING and request.app[READS_ONLY]:
        raise MisdirectedError(
            "this process answers reads only; send the request to one that writes"
        )


def read_server(request: web.Request) -> ReadServer:
    """Return the server of a request's reads; commands read from the primary."""
    chosen = request.get(READ_SERVER)
    if chosen is None:
        servers = request.app[READ_SERVERS]
        chosen = servers.primary
        if (
            servers.replica is not None
            and servers.replica.is_usable
            and request.method in READING
            and not _asks_for_time(request)
        ):
            chosen = servers.replica
        request[READ_SERVER] = chosen
        _reads_of(chosen.name).inc()
    return chosen


def _asks_for_time(request: web.Request) -> bool:
    """Say whether the state at a time is asked for: a replica may lack its end."""
    return not request.query.get("at", "0").isdigit()


@cache
def _reads_of(server: str) -> Counter:
    return READS.labels(server)


def reads_from_replica(request: web.Request) -> bool:
    return isinstance(request.get(READ_SERVER), ReadReplica)


def read_from_primary(request: web.Request, reason: str) -> ReadServer:
    """Ask the primary from now on."""
    primary = request.app[READ_SERVERS].primary
    request[READ_SERVER] = primary
    REPEATED.labels(reason).inc()
    _reads_of(primary.name).inc()
    return primary


async def read_with_fallback(
    request: web.Request, handler: Handler
) -> web.StreamResponse:
    """Call a handler, and again on the primary if the replica may be wrong.

    A replica is behind: it refuses what was created a moment ago. It may also be lost
    while it answers.
    """
    try:
        return await handler(request)
    except ReplicaLostError:
        reason = "lost"
    except ServiceError as error:
        if not reads_from_replica(request) or _is_same_everywhere(error):
            raise
        reason = "refused"
    if reads_from_replica(request):
        read_from_primary(request, reason)
    return await handler(request)


def _is_same_everywhere(error: ServiceError) -> bool:
    if isinstance(error, UnavailableError):
        return error.code not in FROM_ITS_STATE
    return isinstance(error, SAME_EVERYWHERE)
