"""``agent-runtime keys``: status and rotation of the root keys."""

import argparse

from service.cli.databases import (
    database_in_use,
    migrated_database,
    require_data_folder,
)
from service.cli.running import EXIT_FAILED, print_error, run_async
from service.cli.settings import add_settings
from service.config import Config
from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.hardening import forbid_dumps
from service.keys.canary import RootKeyInUseError
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.keys.root_key_source import outside_root_keys
from service.keys.rotation import (
    RewrapFailedError,
    count_sealed,
    root_keys_in_use,
    rotate_root_key,
)


def add_to(parser: argparse.ArgumentParser) -> None:
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    rotate = subparsers.add_parser(
        "rotate",
        help="replace the root key and rewrap every user key",
        description="Replace the root key and rewrap every user key under the new one, "
        "while the service runs. An interrupted rotation continues when run again.",
    )
    add_settings(rotate)
    rotate.set_defaults(run=rotate_command)
    status = subparsers.add_parser(
        "status",
        help="list root keys and count the user keys under each",
        description="List root keys, and count user keys and sealed values.",
    )
    add_settings(status)
    status.set_defaults(run=status_command)


def rotate_command(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    with database_in_use(config) as url:
        return run_async(_rotate(config, url))


def status_command(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    require_data_folder(config)
    with migrated_database(config) as url:
        return run_async(_status(config, url))


async def _rotate(config: Config, database_url: str) -> int:
    ring = await _key_ring(config)

    def progress(rewrapped: int, total: int) -> None:
        print(f"rewrapped {rewrapped} of {total} user keys", flush=True)

    async with connection_pool(service_conninfo(database_url)) as pool:
        try:
            rotation = await rotate_root_key(pool, ring, progress)
        except RewrapFailedError as error:
            print_error(error)
            return EXIT_FAILED
        except RootKeyInUseError as error:
            print_error(f"{error}, so it is kept; run the command again")
            return EXIT_FAILED
    print(f"all user keys are wrapped under root key {rotation.primary_id}")
    for root_key_id in rotation.retired:
        print(f"root key {root_key_id} is now needed only by older backups")
    for path in rotation.kept:
        print(f"it is kept in {path}: restore those backups with it as {KEY_RING_FILE}")
    if not rotation.retired:
        print("nothing to do: rotate an external root key at its source first")
    return 0


async def _status(config: Config, database_url: str) -> int:
    ring = await _key_ring(config)
    async with connection_pool(service_conninfo(database_url)) as pool:
        root_keys = await root_keys_in_use(pool, ring)
        sealed = await count_sealed(pool)
    for key in root_keys:
        role = "primary" if key.is_primary else "old"
        source = "in the data folder" if key.is_in_file else "external"
        count = key.user_keys or 0
        print(f"root key {key.root_key_id}: {role}, {source}, {count} user keys")
    print(f"{sealed.values} sealed values, {sealed.destroyed_keys} destroyed user keys")
    return 0


async def _key_ring(config: Config) -> KeyRing:
    root = await outside_root_keys(config, config.wait_root_key_s)
    return KeyRing.load(config.data_dir / KEY_RING_FILE, root=root)
