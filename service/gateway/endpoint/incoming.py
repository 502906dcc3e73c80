"""A message of an agent's client."""

from dataclasses import dataclass, field
from time import perf_counter
from uuid import UUID

from aiohttp import web

from service.agent_tokens.caller import Caller
from service.gateway.endpoint.reply import Reply
from service.gateway.protocol.messages import Message


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message, with what its answer needs.

    ``connector_id`` None means all connectors of the agent.
    """

    request: web.Request
    caller: Caller
    connector_id: UUID | None
    message: Message
    reply: Reply
    is_stateless: bool
    started: float = field(default_factory=perf_counter)
