"""Notifications that upstreams send before their answer, relayed to clients."""

from typing import Any, Final

from service.gateway.endpoint.client_call import ClientCall
from service.gateway.protocol.revisions import LOG_LEVEL_KEY
from service.gateway.upstream.exchange import Exchange

PROGRESS: Final = "notifications/progress"
LOG: Final = "notifications/message"
LIST_CHANGED: Final = "notifications/tools/list_changed"
# The levels of log messages, the least severe first.
LOG_LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
# For a client with a handshake, which can't say in a call which level it wants.
LOG_LEVEL: Final = "info"
# Fields of each notification that are relayed.
RELAYED: Final = {
    PROGRESS: ("progress", "total", "message"),
    LOG: ("level", "logger", "data"),
}


async def relay(method: str, params: Any, exchange: Exchange, call: ClientCall) -> None:
    """Relay progress that the client wants, or a log message of its level."""
    if not isinstance(params, dict):
        return
    relayed = {name: params[name] for name in RELAYED[method] if name in params}
    if method == PROGRESS:
        meta = call.message.meta
        # The exchange's id was the upstream's token.
        if "progressToken" not in meta or params.get("progressToken") != exchange.id:
            return
        relayed["progressToken"] = meta["progressToken"]
    elif not _is_logged(params.get("level"), log_level(call)):
        return
    await call.reply.notify({"jsonrpc": "2.0", "method": method, "params": relayed})


def log_level(call: ClientCall) -> Any:
    """Return from which level on the client wants log messages; None for none."""
    return call.message.meta.get(LOG_LEVEL_KEY) if call.is_stateless else LOG_LEVEL


def _is_logged(level: Any, wanted: Any) -> bool:
    return (
        level in LOG_LEVELS
        and wanted in LOG_LEVELS
        and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)
    )
