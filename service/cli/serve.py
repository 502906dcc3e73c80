"""``agent-runtime serve``."""

import argparse
import logging

from service.capabilities.catalog import require_runnable
from service.cli.databases import database, for_service, require_primary
from service.cli.running import run_async
from service.cli.settings import GENERAL, GROUPS, add_settings
from service.config import Config
from service.database import wait_for_server
from service.errors import ConfigError
from service.hardening import forbid_dumps
from service.http.address import require_free_address
from service.migrate import migrate

logger = logging.getLogger(__name__)


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the service until SIGTERM or SIGINT: answer HTTP, keep the read tables up "
        "to date, publish to Kafka. Applies pending migrations first."
    )
    add_settings(parser, GENERAL, *GROUPS)
    parser.set_defaults(run=serve_command)


def serve_command(config: Config, _options: argparse.Namespace) -> int:
    if config.reads_only and config.only != "api":
        raise ConfigError("--reads-only is for processes with --only api")
    require_primary(config)
    require_runnable(config)
    forbid_dumps()
    # Before PostgreSQL is started and the database is migrated.
    require_free_address(config.host, config.port)
    if config.database_url is None:
        logger.info("starting the embedded PostgreSQL in %s", config.data_dir)
    with database(config) as (url, postgres):
        from service.serve import serve

        if postgres is None:
            wait_for_server(url)
        applied = migrate(url)
        if applied:
            logger.info("applied %d migrations, up to %s", len(applied), applied[-1])
        service_url = url if postgres is None else for_service(url)
        return run_async(serve(config, service_url, postgres))
