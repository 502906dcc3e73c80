"""``agent-runtime token issue``."""

import argparse

from service.bootstrap import issue_token_for
from service.cli.databases import database_in_use
from service.cli.running import run_async
from service.cli.settings import add_settings
from service.config import Config
from service.keys.root_key_source import outside_root_keys
from service.resources import open_resources


def add_to(parser: argparse.ArgumentParser) -> None:
    issue = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "issue",
        help="issue a token for a user",
        description="Issue a token for a user and print it. Only its hash is stored, "
        "so it can't be shown again.",
    )
    issue.add_argument("user", help="the user's name")
    add_settings(issue)
    issue.set_defaults(run=issue_command)


def issue_command(config: Config, options: argparse.Namespace) -> int:
    with database_in_use(config) as url:
        return run_async(_issue(config, url, options.user))


async def _issue(config: Config, database_url: str, user: str) -> int:
    root = await outside_root_keys(config)
    async with open_resources(database_url, config.data_dir, root=root) as resources:
        print(await issue_token_for(resources, user))
    return 0
