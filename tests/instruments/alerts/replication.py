"""A standby is frozen or killed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.instruments.alerts.installation import Installation


@asynccontextmanager
async def standby_frozen(service: Installation) -> AsyncIterator[None]:
    assert service.servers is not None
    service.servers.standby.freeze()
    try:
        yield
    finally:
        service.servers.standby.thaw()


@asynccontextmanager
async def replica_killed(service: Installation) -> AsyncIterator[None]:
    """The primary doesn't wait for it meanwhile."""
    assert service.servers is not None
    service.servers.primary.set("synchronous_standby_names", "")
    service.servers.standby.kill()
    try:
        yield
    finally:
        service.servers.standby.start()
