"""Callbacks that trace a call; there are none without an exporter."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from service.gateway.gate import Admission
from service.gateway.protocol.messages import RequestId
from service.http.trace_context import TraceContext


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCall:
    """An agent's ``tools/call``: no arguments.

    ``tool`` is None for a name that its list doesn't have.
    """

    agent_id: UUID
    id: RequestId
    tool: str | None
    revision: str | None
    context: TraceContext


class ForwardedTrace(Protocol):
    """The part of a call at its upstream; ``context`` is sent along."""

    @property
    def context(self) -> Mapping[str, str]: ...

    def sent(self, request_id: int) -> None: ...

    def record_answer(self, message: Mapping[str, Any]) -> None: ...


class CallTrace(Protocol):
    """One call of an agent."""

    def admitted(self, admitted: Admission) -> None: ...

    def forwarded(
        self, admitted: Admission, revision: str
    ) -> AbstractContextManager[ForwardedTrace]:
        """Trace a block that asks an upstream; how it fails is told by its error."""

    def ended(self, result: Mapping[str, Any]) -> None: ...


class CallTraces(Protocol):
    def received(self, traced: TracedCall) -> AbstractContextManager[CallTrace]:
        """Trace a block that answers a call; how it fails is told by its error."""
