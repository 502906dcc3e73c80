"""What each command does; it imports what it needs, so that others start at once."""

import argparse
import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from service.cli.databases import database, database_in_use, database_to_read
from service.config import Config
from service.database import wait_for_server
from service.hardening import forbid_dumps

EXIT_FAILED = 1

logger = logging.getLogger(__name__)


def _run(work: Coroutine[Any, Any, int]) -> int:
    import uvloop

    try:
        return uvloop.run(work)
    except asyncio.CancelledError:
        return EXIT_FAILED


def serve(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    if config.database_url is None:
        logger.info("starting the embedded PostgreSQL in %s", config.data_dir)
    with database(config) as (url, postgres):
        from service.migrate import migrate
        from service.serve import serve

        if postgres is None:
            wait_for_server(url)
        applied = migrate(url)
        if applied:
            logger.info("applied %d migrations, up to %s", len(applied), applied[-1])
        return _run(serve(config, url, postgres))


def migrate(config: Config, _options: argparse.Namespace) -> int:
    with database(config) as (url, _):
        from service.migrate import migrate

        applied = migrate(url)
    print("\n".join(applied) or "nothing to do")
    return 0


def rebuild(config: Config, options: argparse.Namespace) -> int:
    with database_in_use(config) as url:
        from service.cli.administration import rebuild_projections

        return _run(rebuild_projections(url, options.projection))


def token_issue(config: Config, options: argparse.Namespace) -> int:
    with database_in_use(config) as url:
        from service.cli.administration import issue_token

        return _run(issue_token(config, url, options.user))


def prices_import(config: Config, options: argparse.Namespace) -> int:
    with database_in_use(config) as url:
        from service.cli.administration import PriceImport, import_price_list

        wanted = PriceImport(
            name=options.file,
            dry_run=options.dry_run,
            confirm=options.confirm,
            undated_since=options.undated_since,
        )
        return _run(import_price_list(config, url, wanted))


def doctor(config: Config, _options: argparse.Namespace) -> int:
    with database_in_use(config) as url:
        from service.cli.administration import show_health

        return _run(show_health(config, url))


def topic(config: Config, options: argparse.Namespace) -> int:
    from service.cli.topic import run_topic_command

    # Neither reads the log, and both may run where there is no database.
    if options.topic_command in ("create", "tail"):
        return _run(run_topic_command(config, "", options))
    with database_in_use(config) as url:
        return _run(run_topic_command(config, url, options))


def audit(config: Config, options: argparse.Namespace) -> int:
    from service.cli import review

    if options.audit == "verify":
        return review.verify(options)
    commands = {
        "events": review.write_events,
        "checkpoint": review.print_checkpoint,
        "replay": review.replay_state,
    }
    with database_to_read(config) as url:
        return _run(commands[options.audit](url, options))


def keys_rotate(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    with database_in_use(config) as url:
        from service.cli.administration import rotate_keys

        return _run(rotate_keys(config, url))


def keys_status(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    with database_in_use(config) as url:
        from service.cli.administration import show_keys

        return _run(show_keys(config, url))
