"""What an operator does from the command line, beside serving."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from projections.catalog import PROJECTORS, follower_conninfo
from projections.engine.rebuild import rebuild
from service.aggregates import AGGREGATES
from service.bootstrap import issue_token_for
from service.cli.doctor import examine
from service.config import Config
from service.database import connection_pool, service_conninfo
from service.errors import InvalidRequestError
from service.event_log.mapper import EventMapper
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.keys.root_key_source import outside_root_keys
from service.keys.rotation import (
    RewrapFailedError,
    count_sealed,
    root_keys_in_use,
    rotate_root_key,
)
from service.price_catalog.import_prices import import_prices
from service.price_catalog.import_source import open_price_list
from service.price_catalog.price_import import REASONS, Fate
from service.resources import open_resources


async def rebuild_projections(database_url: str, wanted: str) -> int:
    """Rebuild one projection, or all, beside the live tables; report progress."""
    projectors = [each for each in PROJECTORS if wanted in (each.name, "all")]
    if not projectors:
        names = ", ".join(sorted(each.name for each in PROJECTORS))
        print(f"no projection {wanted!r}; there are: {names}", file=sys.stderr)
        return 1
    mapper = EventMapper(AGGREGATES)
    conninfo = follower_conninfo(database_url)
    for projector in projectors:
        name = projector.name

        def progress(position: int, head: int, name: str = name) -> None:
            print(f"{name}: {position} of {head}", flush=True)

        position = await rebuild(conninfo, mapper, projector, progress)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceImport:
    """What to import: a file or ``genai-prices``, and how."""

    name: str
    dry_run: bool
    confirm: Sequence[str]
    undated_since: str | None


async def import_price_list(
    config: Config, database_url: str, wanted: PriceImport
) -> int:
    """Bring the catalog to what a price list says and print every difference."""
    since = _moment(wanted.undated_since) if wanted.undated_since else None
    try:
        listed = await open_price_list(wanted.name)
    except OSError as error:
        print(f"{wanted.name}: {error.strerror}", file=sys.stderr)
        return 1

    def progress(done: int, total: int) -> None:
        print(f"{done} of {total} models", file=sys.stderr, flush=True)

    root = await outside_root_keys(config)
    async with open_resources(database_url, config.data_dir, root=root) as resources:
        report = await import_prices(
            resources,
            listed,
            dry_run=wanted.dry_run,
            confirm=wanted.confirm,
            progress=progress,
            undated_since=since,
        )
    for outcome in report.outcomes:
        if outcome.fate is Fate.UNCHANGED:
            continue
        reasons = "; ".join(REASONS[each] for each in outcome.held_because)
        print(f"{outcome.fate} {outcome.key}" + (f": {reasons}" if reasons else ""))
    counts = ", ".join(f"{count} {fate}" for fate, count in report.counts.items())
    print(counts + (" (dry run: nothing was changed)" if wanted.dry_run else ""))
    return 0


def _moment(text: str) -> datetime:
    """Read ISO 8601; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequestError(f"{text!r} is not a time in ISO 8601") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


async def show_health(config: Config, database_url: str) -> int:
    """Print what is right and what is wrong; 1 when anything is wrong."""
    root = await outside_root_keys(config)
    findings = await examine(database_url, config.data_dir, root)
    for finding in findings:
        if finding.fault is None:
            print(f"ok     {finding.subject}")
        else:
            print(f"WRONG  {finding.subject}: {finding.fault}")
    return int(any(finding.fault for finding in findings))


async def _key_ring(config: Config) -> KeyRing:
    root = await outside_root_keys(config)
    return KeyRing.load(config.data_dir / KEY_RING_FILE, root=root)
