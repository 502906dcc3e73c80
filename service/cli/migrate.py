"""``agent-runtime migrate``."""

import argparse

from service.cli.databases import database
from service.cli.settings import add_settings
from service.config import Config
from service.migrate import migrate


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Apply pending database migrations and print their names. An embedded "
        "database must not be in use by a running service."
    )
    add_settings(parser)
    parser.set_defaults(run=migrate_command)


def migrate_command(config: Config, _options: argparse.Namespace) -> int:
    with database(config) as (url, _):
        applied = migrate(url)
    print("\n".join(applied) or "nothing to do")
    return 0
