"""What a capability brings to the service, declared in one place."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from aiohttp import web

from projections.engine.projector import Projector
from service.aggregate import LoggedAggregate
from service.config import Config
from service.follower_process import FollowerProcess
from service.http.operation import Operation, Routes
from service.resources import Resources
from service.settings import SettingGroup

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What one process of the service has.

    With ``traces`` requests, followers and tool calls have spans. ``follower_process``
    is the one that this process has started, if any. ``demo_port`` is the port of
    127.0.0.1 where the tools of the demo are. ``followers_left_out`` run nowhere.
    """

    config: Config
    resources: Resources
    traces: "Tracing | None" = None
    follower_process: FollowerProcess | None = None
    demo_port: int | None = None
    followers_left_out: Sequence[str] = ()


# Runs while an application serves, as a member of its ``cleanup_ctx``.
AppTask = Callable[[web.Application], AsyncIterator[None]]
# Runs in each process that runs the part, beside the followers or for the relay.
BackgroundPart = Literal["followers", "relay"]
BackgroundTask = Callable[[Process], AbstractAsyncContextManager[Any]]


def no_check(_config: Config) -> None:
    """Leave it at what is checked of each setting alone."""


def no_app_resources(_app: web.Application, _process: Process) -> None:
    """Most operations need no more than the log and the database."""


def no_app_tasks(_app: web.Application, _process: Process) -> Sequence[AppTask]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """Everything that the composition roots need to know of a capability.

    ``routes`` are in the order of the API's documentation. ``app_resources`` puts what
    they find in the application there; ``app_tasks`` run while it serves the API, and
    ``background`` in the processes of a part. ``check_settings`` raises a ConfigError
    for ``settings`` that contradict each other, before anything starts.
    ``foreign_tables`` are read tables of other capabilities that its SQL names.
    """

    name: str
    aggregates: Sequence[type[LoggedAggregate]] = ()
    routes: Sequence[Routes] = ()
    projectors: Sequence[Projector] = ()
    foreign_tables: Sequence[str] = ()
    settings: Sequence[type[SettingGroup]] = ()
    check_settings: Callable[[Config], None] = no_check
    app_resources: Callable[[web.Application, Process], None] = no_app_resources
    app_tasks: Callable[[web.Application, Process], Sequence[AppTask]] = no_app_tasks
    background: Mapping[BackgroundPart, Sequence[BackgroundTask]] = field(
        default_factory=dict
    )

    @property
    def operations(self) -> list[Operation]:
        return [each for routes in self.routes for each in routes.operations]


def nothing() -> Capability | None:
    """Bring no more than settings and code that a command line or root calls."""
    return None


def always(_config: Config) -> bool:
    return True


def never_needed(_config: Config) -> str | None:
    """Most are needed by no settings but their own."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalCapability:
    """A capability that ``--without`` leaves out, known without importing its code.

    ``load`` imports what it brings, which has its name. ``aggregates`` and ``settings``
    are known in any case: a log may hold events of what is left out now. ``packages``
    is its code, which no other imports: neither the core, nor an optional one that
    doesn't say in ``imports`` why.
    ``followers`` are named here for those that meet with positions which they have left
    behind. Where it ``is_used``, the modules in ``requires`` must be installed, by
    ``extra`` of this package, and the capabilities in ``needs`` run.
    ``needed_because`` says why settings that aren't its own can't do without it.
    """

    name: str
    packages: Sequence[str]
    load: Callable[[], Capability | None] = nothing
    aggregates: Sequence[type[LoggedAggregate]] = ()
    settings: Sequence[type[SettingGroup]] = ()
    followers: Sequence[str] = ()
    imports: Mapping[str, str] = field(default_factory=dict)
    is_used: Callable[[Config], bool] = always
    needed_because: Callable[[Config], str | None] = never_needed
    needs: Sequence[str] = ()
    requires: Sequence[str] = ()
    extra: str | None = None
