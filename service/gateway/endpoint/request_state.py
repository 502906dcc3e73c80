"""State that a client keeps between two rounds of one call, authenticated.

It is bound to the caller, the tool and the arguments: presented with others it is
refused, and so is one that was changed or has expired.
"""

import base64
import binascii
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

import orjson

from service.gateway.gate import CallRequest
from service.gateway.protocol.errors import INVALID_PARAMS, RpcError

EXPIRY_S: Final = 3600
CHARACTERS_MAX: Final = 128 * 1024
# Bounds an upstream's state as JSON, so that it has room when it is sealed.
INNER_BYTES_MAX: Final = 95 * 1024
MAC_BYTES: Final = 32

Kind = Literal["upstream", "approval"]


@dataclass(frozen=True, slots=True)
class RequestState:
    """``inner`` is the state of the upstream, if it gave one.

    ``continues`` is the call of the round before, if a person had approved that.
    """

    kind: Kind
    inner: str | None = None
    continues: UUID | None = None


class RequestStates:
    """Seals and opens states; ``mac`` has a key that all processes share."""

    def __init__(self, mac: Callable[..., bytes]) -> None:
        self._mac = mac

    def seal(self, state: RequestState, request: CallRequest, now: float) -> str:
        payload = orjson.dumps(
            [int(now) + EXPIRY_S, state.kind, state.inner, state.continues]
        )
        mac = self._mac(*_binding(request), payload)
        return base64.urlsafe_b64encode(mac + payload).decode()

    def open(self, text: object, request: CallRequest, now: float) -> RequestState:
        """Return the state that was sealed.

        :raises RpcError: it isn't ours, is another call's, or has expired
        """
        if not isinstance(text, str) or len(text) > CHARACTERS_MAX:
            raise _invalid()
        try:
            sealed = base64.b64decode(text, altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _invalid() from None
        mac, payload = sealed[:MAC_BYTES], sealed[MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(*_binding(request), payload)):
            raise _invalid()
        expires, kind, inner, continues = orjson.loads(payload)
        if expires < now:
            raise _invalid()
        return RequestState(kind, inner, UUID(continues) if continues else None)


def _binding(request: CallRequest) -> tuple[bytes, ...]:
    caller = request.caller
    return (
        caller.agent_id.bytes,
        caller.user_id.bytes if caller.user_id else b"",
        request.connector_id.bytes,
        request.tool.encode(),
        request.arguments,
    )


def _invalid() -> RpcError:
    return RpcError(
        INVALID_PARAMS, "requestState is not of this call, or has expired; call again"
    )
