"""What an operator does from the command line, beside serving."""

import sys

from psycopg import AsyncConnection

from projections.catalog import PROJECTORS, follower_conninfo
from projections.rebuild import rebuild
from service.aggregates import AGGREGATES
from service.config import Config
from service.database import connection_pool, service_conninfo
from service.event_log.mapper import EventMapper
from service.resources import open_resources
from service.secrets.key_ring import KEY_RING_FILE, KeyRing
from service.secrets.rotation import (
    RewrapFailedError,
    count_sealed,
    root_keys_in_use,
    rotate_root_key,
)
from service.secrets.sources import outside_root_keys
from service.users.bootstrap import issue_token_for


async def rebuild_projections(database_url: str, wanted: str) -> int:
    """Rebuild one projection, or all, beside the live tables; report progress."""
    projectors = [each for each in PROJECTORS if wanted in (each.name, "all")]
    if not projectors:
        names = ", ".join(sorted(each.name for each in PROJECTORS))
        print(f"no projection {wanted!r}; there are: {names}", file=sys.stderr)
        return 1
    mapper = EventMapper(AGGREGATES)
    async with await AsyncConnection.connect(
        follower_conninfo(database_url), autocommit=True
    ) as db:
        for projector in projectors:
            name = projector.name

            def progress(position: int, head: int, name: str = name) -> None:
                print(f"{name}: {position} of {head}", flush=True)

            position = await rebuild(db, mapper, projector, progress)
            print(f"{name}: rebuilt, reflects position {position}", flush=True)
    return 0


async def issue_token(config: Config, database_url: str, user: str) -> int:
    """Print a new token of a user; it is not stored and can't be shown again."""
    root = await outside_root_keys(config)
    async with open_resources(database_url, config.data_dir, root=root) as resources:
        print(await issue_token_for(resources, user))
    return 0


async def rotate_keys(config: Config, database_url: str) -> int:
    """Put every user key under a new root key; go on where a rotation was stopped."""
    ring = await _key_ring(config)

    def report(rewrapped: int, total: int) -> None:
        print(f"rewrapped {rewrapped} of {total} user keys", flush=True)

    async with connection_pool(service_conninfo(database_url)) as pool:
        try:
            rotation = await rotate_root_key(pool, ring, report)
        except RewrapFailedError as error:
            print(error, file=sys.stderr)
            return 1
    print(f"everything is under root key {rotation.primary_id}")
    for root_key_id in rotation.retired:
        print(f"root key {root_key_id} is needed by nothing but older backups")
    if not rotation.retired:
        print("nothing was to do: a root key from outside is replaced there first")
    return 0


async def show_keys(config: Config, database_url: str) -> int:
    """Print what is sealed under what."""
    ring = await _key_ring(config)
    async with connection_pool(service_conninfo(database_url)) as pool:
        root_keys = await root_keys_in_use(pool, ring)
        sealed = await count_sealed(pool)
    for each in root_keys:
        role = "primary" if each.is_primary else "old"
        place = "in the data folder" if each.is_in_file else "from outside"
        needed = f"{each.user_keys or 0} user keys"
        print(f"root key {each.root_key_id}: {role}, {place}, {needed}")
    print(f"{sealed.values} sealed values, {sealed.destroyed_keys} destroyed user keys")
    return 0


async def _key_ring(config: Config) -> KeyRing:
    root = await outside_root_keys(config)
    return KeyRing.load(config.data_dir / KEY_RING_FILE, root=root)
