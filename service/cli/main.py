"""The command line: ``agent-runtime``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from psycopg import OperationalError
from psycopg.errors import InsufficientPrivilege

from service.cli.commands import EXIT_FAILED
from service.cli.parser import build_parser
from service.config import Config, ConfigError, StartError
from service.embedded_postgres.errors import EmbeddedPostgresError
from service.errors import ServiceError
from service.logs import configure_logs
from service.migrate import MigrationError

EXIT_CONFIG = 78


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0, 1 failed, 78 bad setting."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        config = Config.read(vars(options), os.environ)
    except ConfigError as error:
        print(f"agent-runtime: {error}", file=sys.stderr)
        return EXIT_CONFIG
    configure_logs(config.log_level, config.log_format)
    run: Callable[[Config, argparse.Namespace], int] = options.run
    try:
        return run(config, options)
    except ConfigError as error:
        print(f"agent-runtime: {error}", file=sys.stderr)
        return EXIT_CONFIG
    except (EmbeddedPostgresError, MigrationError, ServiceError, StartError) as error:
        print(f"agent-runtime: {error}", file=sys.stderr)
        return EXIT_FAILED
    except (OperationalError, InsufficientPrivilege) as error:
        print(f"agent-runtime: {error.diag.message_primary or error}", file=sys.stderr)
        return EXIT_FAILED
