"""What a capability brings to the service, declared in one place."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from projections.engine.projector import Projector
from projections.sessions.phoenix.store import PhoenixStore
from service.aggregate import LoggedAggregate
from service.config import Config
from service.follower_process import FollowerProcess
from service.gateway.serving import GatewaySettings
from service.http.operation import Operation, Routes
from service.resources import Resources

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing

# Runs while an application serves, as a member of its ``cleanup_ctx``.
AppTask = Callable[[web.Application], AsyncIterator[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppContext:
    """What a process holds open, and gives to the application that it serves.

    ``phoenix`` enriches lists of sessions. ``follower_process`` is the one that this
    process has started, if any. With ``traces`` requests and tool calls have spans.
    """

    resources: Resources
    phoenix: PhoenixStore | None = None
    follower_process: FollowerProcess | None = None
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    traces: "Tracing | None" = None


def no_app_resources(_app: web.Application, _context: AppContext) -> None:
    """Most operations need no more than the log and the database."""


def no_app_tasks(_app: web.Application, _context: AppContext) -> Sequence[AppTask]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """Everything that the composition roots need to know of a capability.

    ``routes`` are in the order of the API's documentation. ``app_resources`` puts what
    they find in the application there; ``app_tasks`` run while it serves the API.
    ``follower_tasks`` run in the process that runs the followers. ``foreign_tables``
    are read tables of other capabilities that its SQL names.
    """

    name: str
    aggregates: Sequence[type[LoggedAggregate]] = ()
    routes: Sequence[Routes] = ()
    projectors: Sequence[Projector] = ()
    foreign_tables: Sequence[str] = ()
    app_resources: Callable[[web.Application, AppContext], None] = no_app_resources
    app_tasks: Callable[[web.Application, AppContext], Sequence[AppTask]] = no_app_tasks
    follower_tasks: Sequence[
        Callable[[Resources, Config], AbstractAsyncContextManager[Any]]
    ] = ()

    @property
    def operations(self) -> list[Operation]:
        return [each for routes in self.routes for each in routes.operations]
