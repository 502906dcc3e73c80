"""``agent-runtime rebuild``."""

import argparse
from collections.abc import Sequence

from projections.catalog import follower_conninfo, running_projectors
from projections.engine.projector import Projector
from projections.engine.rebuild import rebuild
from service.aggregates import AGGREGATES
from service.capabilities.catalog import followers_left_out
from service.cli.databases import database_in_use
from service.cli.running import EXIT_FAILED, print_error, run_async
from service.cli.settings import add_settings
from service.config import Config
from service.errors import ConfigError
from service.event_log.mapper import EventMapper
from service.settings import variable_of

ALL = "all"


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Rebuild a projection's read tables from the event log. The current tables "
        "answer queries until the new ones replace them."
    )
    parser.add_argument(
        "projection", help=f"name of the projection, or '{ALL}' for every projection"
    )
    add_settings(parser)
    parser.set_defaults(run=rebuild_command)


def rebuild_command(config: Config, options: argparse.Namespace) -> int:
    projectors, wanted = running_projectors(config), options.projection
    if wanted in followers_left_out(config):
        raise ConfigError(
            f"{wanted} is left out by {variable_of('without')}, so it isn't rebuilt; "
            "it catches up when it runs again"
        )
    with database_in_use(config) as url:
        return run_async(_rebuild(url, projectors, wanted))


async def _rebuild(
    database_url: str, projectors: Sequence[Projector], wanted: str
) -> int:
    chosen = [each for each in projectors if wanted in (each.name, ALL)]
    if not chosen:
        names = ", ".join(each.name for each in projectors)
        print_error(
            f"no projection is named {wanted!r}; choose {ALL} or one of {names}"
        )
        return EXIT_FAILED
    mapper = EventMapper(AGGREGATES)
    conninfo = follower_conninfo(database_url)
    for projector in chosen:
        name = projector.name

        def progress(position: int, head: int, name: str = name) -> None:
            print(f"{name}: position {position} of {head}", flush=True)

        position = await rebuild(conninfo, mapper, projector, progress)
        print(f"{name}: rebuilt up to position {position}", flush=True)
    return 0
