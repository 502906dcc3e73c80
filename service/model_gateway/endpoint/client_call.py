"""A model call of a client, as it is forwarded."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from aiohttp import web

from service.model_gateway.calls.call_record import CallRecord
from service.model_gateway.calls.deciding import CallRequest
from service.model_gateway.protocol.body import CallBody
from service.model_gateway.protocol.endpoints import Endpoint


@dataclass(slots=True, kw_only=True)
class ClientCall:
    """``headers`` are for the provider, without its credential.

    ``session`` is what the client names as its session, of whatever characters.
    ``is_deciding`` while it waits for what decides on it, and for no provider.
    ``hold`` bounds the memory that bodies take together, until :meth:`drop_body`.
    """

    http: web.Request
    endpoint: Endpoint
    request: CallRequest
    record: CallRecord
    session: str | None
    headers: Mapping[str, str] = field(repr=False)
    body: CallBody
    hold: ExitStack
    is_deciding: bool = False

    def drop_body(self) -> None:
        """Free the body: an answer has begun, and no other target gets it any more."""
        self.body.drop()
        self.hold.close()
