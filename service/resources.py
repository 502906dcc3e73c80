"""The open resources of a process: connections, log and keys."""

from dataclasses import dataclass, field

from service.cache_bounds import DEFAULT_CACHES, CacheBounds
from service.connection_pool import CheckedPool
from service.event_log.log import EventLog
from service.event_log.read_replica import ReadServers
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.notifications import Notifications
from service.users.authenticate import TokenAuthenticator
from service.waits import Waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    database_url: str
    conninfo: str
    pool: CheckedPool
    reads: ReadServers
    log: EventLog
    key_ring: KeyRing
    vault: Vault
    authenticator: TokenAuthenticator
    notifications: Notifications
    waits: Waits = field(default_factory=Waits)
    caches: CacheBounds = DEFAULT_CACHES


@dataclass(frozen=True, slots=True, kw_only=True)
class LogResources:
    """What a process needs that only reads the log and appends to it: no keys."""

    pool: CheckedPool
    log: EventLog
