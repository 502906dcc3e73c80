"""Opens the resources of a process, and closes them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from service.aggregates import AGGREGATES
from service.cache_bounds import DEFAULT_CACHES, CacheBounds
from service.connection_pool import CheckedPool, connection_pool
from service.database import (
    SERVER_START_S,
    require_right_session,
    service_conninfo,
    time_limits,
)
from service.event_log.log import EventLog
from service.event_log.read_replica import read_servers
from service.event_log.writer import Timeouts
from service.event_log.writer_connection import WRITER_NAME
from service.keys.canary import verify_canary
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.keys.root_key import RootKeys
from service.keys.user_keys import UserKeys
from service.keys.vault import Vault
from service.notifications import (
    DESTROYED_KEYS_CHANNEL,
    Notifications,
    listening,
)
from service.resources import LogResources, Resources
from service.users.authenticate import TokenAuthenticator
from service.waits import Waits


@asynccontextmanager
async def open_log(conninfo: str) -> AsyncIterator[LogResources]:
    """Open the log of a migrated database, and close it when the block ends.

    :raises WrongSessionError: connections have another role or other settings
    """
    waits = Waits()
    async with _pool(conninfo, waits) as pool, _log(conninfo, pool, waits) as log:
        yield LogResources(pool=pool, log=log)


@asynccontextmanager
async def open_resources(
    database_url: str,
    data_dir: Path,
    *,
    root: RootKeys | None = None,
    read_database_url: str | None = None,
    takes_commands: bool = False,
    waits: Waits | None = None,
    caches: CacheBounds = DEFAULT_CACHES,
) -> AsyncIterator[Resources]:
    """Open everything, and close it in the opposite order.

    Expects a migrated database. ``root`` are root keys from outside the data folder,
    ``read_database_url`` is a read replica. With ``takes_commands``, the database
    shows the connection on which this process commits by a name of its own.

    :raises KeyRingError: the key ring is damaged, or open to others
    :raises WrongRootKeyError: a root key that this database needs is missing
    :raises WrongSessionError: connections have another role or other settings
    :raises WrongPurposeKeysError: the key ring belongs to another database
    """
    key_ring = KeyRing.load_or_create(data_dir / KEY_RING_FILE, root=root)
    waits = waits or Waits()
    limits = time_limits(waits)
    conninfo = service_conninfo(database_url, **limits)
    writer_conninfo = conninfo
    if takes_commands:
        writer_conninfo = service_conninfo(
            database_url, application_name=WRITER_NAME, **limits
        )
    async with _pool(conninfo, waits) as pool:
        # Before the log: it may begin a new epoch on a server that was promoted.
        await verify_canary(pool, key_ring)
        user_keys = UserKeys(pool, key_ring)
        notifications = Notifications(pool)
        async with (
            # What a key that the database lacks has sealed, nobody could open.
            _log(
                conninfo,
                pool,
                waits,
                writer_conninfo,
                on_cut=user_keys.forget_all,
                caches=caches,
            ) as log,
            _notified(notifications, conninfo, user_keys),
            read_servers(
                pool, conninfo, read_database_url, lambda: log.history, waits
            ) as reads,
        ):
            yield Resources(
                database_url=database_url,
                conninfo=conninfo,
                pool=pool,
                reads=reads,
                log=log,
                key_ring=key_ring,
                vault=Vault(pool, user_keys),
                authenticator=TokenAuthenticator(log, key_ring.token_hash),
                notifications=notifications,
                waits=waits,
                caches=caches,
            )


@asynccontextmanager
async def _notified(
    notifications: Notifications, conninfo: str, user_keys: UserKeys
) -> AsyncIterator[None]:
    """Listen to other processes, above all to what they say of destroyed keys.

    Without a connection, a key stays in the cache for at most ``CACHED_FOR_S``.
    """
    with notifications.subscribed(
        DESTROYED_KEYS_CHANNEL,
        lambda user_id: user_keys.forget(UUID(user_id)),
        connected=user_keys.forget_all,
    ):
        async with listening(notifications, conninfo):
            yield


@asynccontextmanager
async def _pool(conninfo: str, waits: Waits) -> AsyncIterator[CheckedPool]:
    # The pool would only say that it got no connection in time.
    await require_right_session(conninfo)
    async with connection_pool(conninfo, waits) as pool:
        # The first connections may take longer than a request would wait for one.
        await pool.wait(SERVER_START_S)
        yield pool


@asynccontextmanager
async def _log(
    conninfo: str,
    pool: CheckedPool,
    waits: Waits,
    writer_conninfo: str | None = None,
    *,
    on_cut: Callable[[], None] = lambda: None,
    caches: CacheBounds = DEFAULT_CACHES,
) -> AsyncIterator[EventLog]:
    log = EventLog(
        conninfo,
        AGGREGATES,
        pool,
        writer_conninfo=writer_conninfo,
        cache_bytes_max=caches.aggregates,
        timeouts=Timeouts.of(waits),
        on_cut=on_cut,
    )
    await log.start()
    try:
        yield log
    finally:
        await log.stop()
