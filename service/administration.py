"""What an operator does from the command line, beside serving."""

import sys

from psycopg import AsyncConnection

from projections.catalog import PROJECTORS, follower_conninfo
from projections.rebuild import rebuild
from service.aggregates import AGGREGATES
from service.config import Config
from service.event_log.mapper import EventMapper
from service.resources import open_resources
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
    async with open_resources(database_url, config.data_dir) as resources:
        print(await issue_token_for(resources, user))
    return 0
