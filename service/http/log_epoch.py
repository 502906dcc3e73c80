"""The header X-Log-Epoch: which history of the log a position belongs to."""

from uuid import UUID

from aiohttp import web

from service.errors import ConflictError, MalformedRequestError, Problem
from service.http.app_keys import EVENT_LOG
from service.identifiers import id_text

EPOCH_HEADER = "X-Log-Epoch"
POSITION_HEADER = "X-Event-Position"


def refuse_other_epoch(request: web.Request) -> None:
    """Refuse positions of another epoch.

    A log that was restored uses positions again: those of an earlier answer then
    mean other events, or none.

    :raises ConflictError: the caller's positions are of another epoch
    """
    asked = request.headers.get(EPOCH_HEADER)
    if asked is None:
        return
    epoch = request.app[EVENT_LOG].epoch
    if _parsed(asked) != epoch:
        raise ConflictError(
            "the log has been restored; positions of earlier answers are void",
            code="log_epoch_changed",
            headers={EPOCH_HEADER: str(epoch)},
        )


def name_log_epoch(request: web.Request, response: web.StreamResponse) -> None:
    """Add the epoch to a response that has a position."""
    if POSITION_HEADER in response.headers and not response.prepared:
        response.headers[EPOCH_HEADER] = id_text(request.app[EVENT_LOG].epoch)


def _parsed(header: str) -> UUID:
    try:
        return UUID(header)
    except ValueError:
        raise MalformedRequestError(
            f"{EPOCH_HEADER} takes the {EPOCH_HEADER} of an earlier answer",
            problems=[Problem(EPOCH_HEADER, "not an epoch")],
        ) from None
