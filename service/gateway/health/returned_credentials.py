"""Tell the owners of connectors whose servers send their credential back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import psycopg

from service.database import message_of
from service.errors import ServiceError
from service.gateway.gate import Upstream
from service.gateway.health.explain import host_of
from service.gateway.health.table import CredentialReturned
from service.gateway.metrics import CREDENTIALS_RETURNED
from service.tasks import end_tasks

# Between two writes of a process for one connector.
INTERVAL_S: Final = 60.0
# Named in the log once; then perhaps again.
LOGGED_MAX: Final = 4096
Note = Callable[[CredentialReturned], Awaitable[None]]

logger = logging.getLogger(__name__)


class ReturnedCredentials:
    """Counts answers that held the credential of their requests; ``note`` keeps it."""

    def __init__(self, note: Note) -> None:
        self._note = note
        # By connector: what isn't written yet, and the task that writes it.
        self._unwritten: dict[UUID, CredentialReturned] = {}
        self._writing: dict[UUID, asyncio.Task[None]] = {}
        self._logged: set[UUID] = set()

    def count(self, upstream: Upstream) -> None:
        """Count an answer; the first one of a minute is written at once."""
        CREDENTIALS_RETURNED.inc()
        connector_id = upstream.connector_id
        self._log(upstream)
        before = self._unwritten.get(connector_id)
        is_same = before is not None and before.url == upstream.url
        self._unwritten[connector_id] = CredentialReturned(
            connector_id=connector_id,
            url=upstream.url,
            at=datetime.now(UTC),
            answers=before.answers + 1 if before is not None and is_same else 1,
        )
        if connector_id not in self._writing:
            self._writing[connector_id] = asyncio.create_task(
                self._write(connector_id), name="note a returned credential"
            )

    async def close(self) -> None:
        await end_tasks(*self._writing.values())
        for connector_id in [*self._unwritten]:
            await self._keep(self._unwritten.pop(connector_id))

    async def _write(self, connector_id: UUID) -> None:
        try:
            while returned := self._unwritten.pop(connector_id, None):
                await self._keep(returned)
                await asyncio.sleep(INTERVAL_S)
        finally:
            del self._writing[connector_id]

    async def _keep(self, returned: CredentialReturned) -> None:
        try:
            await self._note(returned)
        except (psycopg.Error, ServiceError, OSError) as error:
            logger.warning(
                "that a connector's server returned its credential can't be kept: %s",
                message_of(error),
                extra={"connector_id": str(returned.connector_id)},
            )

    def _log(self, upstream: Upstream) -> None:
        if upstream.connector_id in self._logged:
            return
        if len(self._logged) >= LOGGED_MAX:
            self._logged.clear()
        self._logged.add(upstream.connector_id)
        logger.info(
            "the server of connector %r at %s sent its credential back, which was "
            "removed; stop it from that, then replace the secret",
            upstream.name,
            host_of(upstream.url),
            extra={"connector_id": str(upstream.connector_id)},
        )
