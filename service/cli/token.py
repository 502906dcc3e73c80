"""``agent-runtime token issue``."""

import argparse
from contextlib import suppress
from datetime import datetime

from service.bootstrap import issue_token_for
from service.cli.databases import database_in_use
from service.cli.running import run_async
from service.cli.settings import add_settings
from service.config import Config
from service.keys.root_key_source import outside_root_keys
from service.open_resources import open_resources


def add_to(parser: argparse.ArgumentParser) -> None:
    issue = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "issue",
        help="issue a token for a user",
        description="Issue a token for a user and print it. Only its hash is stored, "
        "so it can't be shown again.",
    )
    issue.add_argument("user", help="the user's name")
    issue.add_argument(
        "--expires-at",
        type=_time,
        metavar="TIME",
        help="the time at which the token expires, in ISO 8601 with a time zone, such "
        "as 2030-01-01T00:00:00Z; without it, the token is valid until it is revoked",
    )
    add_settings(issue)
    issue.set_defaults(run=issue_command)


def issue_command(config: Config, options: argparse.Namespace) -> int:
    with database_in_use(config) as url:
        return run_async(_issue(config, url, options.user, options.expires_at))


async def _issue(
    config: Config, database_url: str, user: str, expires_at: datetime | None
) -> int:
    root = await outside_root_keys(config, config.wait_root_key_s)
    async with open_resources(database_url, config.data_dir, root=root) as resources:
        print(await issue_token_for(resources, user, expires_at=expires_at))
    return 0


def _time(text: str) -> datetime:
    time: datetime | None = None
    with suppress(ValueError):
        time = datetime.fromisoformat(text)
    if time is None or time.tzinfo is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time with a time zone, such as 2030-01-01T00:00:00Z"
        )
    if time <= datetime.now(time.tzinfo):
        raise argparse.ArgumentTypeError(f"{text!r} is in the past")
    return time
