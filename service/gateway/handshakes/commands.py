"""Start a handshake that sends a secret: handler."""

from service.agent_tokens.authenticate import valid_token
from service.errors import UnauthenticatedError
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.deciding import decide_call
from service.gateway.gate import CallRequest, MovedError, Refused
from service.gateway.handshakes.aggregate import UpstreamHandshake
from service.identifiers import id_text
from service.secrets.sent import NamedSecret


async def start_handshake(
    request: CallRequest, url: str, work: UnitOfWork
) -> NamedSecret:
    """Return the secret of a call that may still be made; its use is recorded.

    :raises MovedError: the call may not be made any more, or the connector has changed
    """
    caller = request.caller
    try:
        await valid_token(work, caller, work.at)
    except UnauthenticatedError:
        # Who waits for the same handshake may have another token.
        raise MovedError from None
    decided = await decide_call(request, work, url=url)
    if isinstance(decided, Refused) or decided.secret is None:
        raise MovedError
    work.save(
        UpstreamHandshake(
            connector_id=id_text(request.connector_id),
            agent_id=id_text(caller.agent_id),
            user_id=id_text(caller.user_id) if caller.user_id else None,
            secret=decided.secret.used,
        )
    )
    return decided.secret
