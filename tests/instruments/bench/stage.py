"""Everything that is measured, set up once for all rounds."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from aiohttp import ClientSession
from psycopg.conninfo import make_conninfo

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from projections.engine.projector import Projector
from service.demo.api import Api
from service.demo.prices import import_real_prices
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from service.open_resources import open_resources
from service.resources import Resources
from tests.instruments.bench import bare, pgbench, processes, session_log
from tests.instruments.bench.plan import reads, rule_changes
from tests.instruments.bench.world import World, make_world
from tests.support.harness.service import Server
from tests.support.projectors import PROJECTORS

AGENTS = 256
CONNECTORS = 2
FOLLOW_TIMEOUT_S = 3600
CATALOG = "/api/llm-router/providers"
LIST = "/api/observability/session/list?limit=25"
RULES = "/api/mcp/agents/{agent_id}/tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much there is: sessions in the list, events for the library's projection."""

    sessions: int = 1_000_000
    sample: int = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """``rules`` and ``other_rules`` go around the same agents half a turn apart.

    ``served`` is plain ``serve``, with followers in a process of its own, on a database
    of its own, so that it does nothing while others are measured.
    """

    size: Size
    folder: Path
    database_url: str
    sessions_url: str
    library_url: str
    api: Server
    sessions_api: Server
    served: Server
    bare_rules: Server
    bare_catalog: Server
    bare_list: Server
    rules: Path
    other_rules: Path
    catalog: Path
    served_rules: Path
    served_catalog: Path
    session_list: Path
    insert: Path
    fsyncs: float


@contextmanager
def set_up(size: Size) -> Iterator[Stage]:
    with ExitStack() as held:
        folder = Path(
            held.enter_context(
                tempfile.TemporaryDirectory(prefix="agent-runtime-bench-")
            )
        )
        with EmbeddedPostgres.start(folder) as postgres:
            _allow_connections(postgres.url)
        postgres = held.enter_context(EmbeddedPostgres.start(folder))
        yield _stage(held, folder, postgres.url, size)


def _allow_connections(url: str) -> None:
    """Allow for all services of the stage at once, beside pgbench."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("ALTER SYSTEM SET max_connections = 300")


def _stage(held: ExitStack, folder: Path, url: str, size: Size) -> Stage:
    migrate(url)
    sessions_url = new_database(url, "bench_sessions")
    migrate(sessions_url)
    served_url = new_database(url, "bench_served")
    migrate(served_url)
    for name in ("rules", "sessions", "served"):
        (folder / name).mkdir(mode=0o700)
    world = asyncio.run(fill(url, folder / "rules"))
    served_world = asyncio.run(fill(served_url, folder / "served"))
    readers = asyncio.run(fill(sessions_url, folder / "sessions", agents=1))
    session_log.write_sessions(
        sessions_url, sessions=size.sessions, agent=readers.agents[0]
    )
    asyncio.run(follow(sessions_url, folder / "sessions", "sessions", "agents"))
    api = held.enter_context(processes.service(url, folder / "rules"))
    sessions_api = held.enter_context(
        processes.service(sessions_url, folder / "sessions")
    )
    served = held.enter_context(
        processes.service(served_url, folder / "served", only=None)
    )
    asyncio.run(import_prices(api.url, url, folder / "rules", world))
    asyncio.run(import_prices(served.url, served_url, folder / "served", served_world))
    plans = {
        "rules": rule_changes(world),
        "other_rules": rule_changes(world, offset=AGENTS // 2),
        # Read by a caller who writes nothing: no follower runs here that a read of
        # one's own writes could wait for.
        "catalog": reads(world.admin_token, CATALOG),
        "served_rules": rule_changes(served_world),
        "served_catalog": reads(served_world.admin_token, CATALOG),
        "session_list": reads(readers.admin_token, LIST),
    }
    files = {name: plan.write(folder / f"{name}.plan") for name, plan in plans.items()}
    answers = {
        name: asyncio.run(
            bare.record(api.url, plans[name], path, folder / f"{name}.json")
        )
        for name, path in {"rules": RULES, "catalog": CATALOG}.items()
    }
    return Stage(
        size=size,
        folder=folder,
        database_url=url,
        sessions_url=sessions_url,
        library_url=new_database(url, "bench_library"),
        api=api,
        sessions_api=sessions_api,
        served=served,
        bare_rules=held.enter_context(processes.bare(answers["rules"])),
        bare_catalog=held.enter_context(processes.bare(answers["catalog"])),
        bare_list=held.enter_context(processes.page(sessions_url, folder)),
        insert=pgbench.prepare(url, folder / "insert.sql"),
        fsyncs=pgbench.fsyncs_per_second(folder),
        **files,
    )


async def fill(
    url: str, data_dir: Path, *, agents: int = AGENTS, connectors: int = CONNECTORS
) -> World:
    """Make people, agents and connectors, and the read tables up to there."""
    async with open_resources(url, data_dir) as resources:
        world = await make_world(resources, agents=agents, connectors=connectors)
        await follow_to_the_end(resources, PROJECTORS)
    return world


async def import_prices(api_url: str, url: str, data_dir: Path, world: World) -> None:
    """Import the real price list, and wait for its read table."""
    async with ClientSession() as http:
        await import_real_prices(Api(http, api_url, world.admin_token))
    await follow(url, data_dir, "provider_catalog")


async def follow(url: str, data_dir: Path, *names: str) -> None:
    """Let some followers, by name, read the log to its end."""
    async with open_resources(url, data_dir) as resources:
        await follow_to_the_end(
            resources, [each for each in PROJECTORS if each.name in names]
        )


async def follow_to_the_end(
    resources: Resources, projectors: Sequence[Projector]
) -> None:
    async with run_followers(resources.log, resources.database_url, projectors):
        names = [projector.name for projector in projectors]
        head = await resources.log.head()
        await wait_for_position(
            resources.pool, names, head.position, timeout_s=FOLLOW_TIMEOUT_S
        )


def new_database(url: str, name: str) -> str:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}".encode())
    return make_conninfo(url, dbname=name)
