"""The command line: ``agent-runtime``."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from importlib import import_module
from typing import Final

from psycopg import OperationalError
from psycopg.errors import InsufficientPrivilege, ReadOnlySqlTransaction

from service import __version__
from service.cli.running import (
    EXIT_CONFIG,
    EXIT_FAILED,
    EXIT_READER_LEFT,
    print_error,
    require_utf8,
)
from service.config import Config
from service.embedded_postgres.errors import EmbeddedPostgresError
from service.errors import ConfigError, ServiceError, StartError
from service.ignored_variables import IGNORED, remove_variables
from service.logs import configure_logs
from service.migrate import MigrationError

# Each is a module of this package with a function ``add_to(parser)``, which adds
# options and subcommands and sets ``run``.
COMMANDS: Final[Mapping[str, str]] = {
    "serve": "run the service: HTTP API, followers and Kafka relay",
    "tour": "show in the running demo how calls are decided",
    "migrate": "apply pending database migrations",
    "rebuild": "rebuild a projection's read tables from the event log",
    "token": "issue bearer tokens",
    "prices": "import model prices",
    "backup": "write the event log and all that is sealed into one file",
    "restore": "fill a new database from a backup",
    "doctor": "check an installation for problems",
    "topic": "manage the Kafka topic of events",
    "audit": "export, verify and replay the event log",
    "keys": "show and rotate encryption keys",
}

EPILOG: Final = """\
'agent-runtime COMMAND --help' lists a command's options.
Exit codes: 0 done, 1 failed, 2 wrong usage, 78 a wrong setting, 141 nobody
reads the output on.
"""

# A point-in-time recovery pauses before its end unless it is told to promote.
TAKES_ONLY_READS: Final = (
    "the database takes only reads, as a standby does, or a recovery that has paused:"
    " connect to the primary, or end the recovery with SELECT pg_promote()"
)

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status, as EPILOG names them."""
    try:
        return _main(arguments)
    except ModuleNotFoundError as error:
        from service.capabilities.catalog import extra_with

        if error.name is None or (extra := extra_with(error.name)) is None:
            raise
        print_error(
            f"this needs {error.name}, which isn't installed: run pip install "
            f"'agent-runtime[{extra}]'"
        )
        return EXIT_CONFIG


def _main(arguments: Sequence[str] | None) -> int:
    if arguments is None:
        arguments = sys.argv[1:]
    # Before the command's module is imported: libraries may read them at once.
    ignored = remove_variables(IGNORED)
    # Only the chosen command's module is imported, so that it starts at once.
    options = build_parser(arguments[:1]).parse_args(arguments)
    try:
        config = Config.read(vars(options), os.environ)
    except ConfigError as error:
        print_error(error)
        return EXIT_CONFIG
    run: Callable[[Config, argparse.Namespace], int] = options.run
    try:
        return run_command(config, lambda config: run(config, options), ignored)
    except BrokenPipeError:
        # Nobody reads on, as after head. What is left would be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_READER_LEFT


def run_command(
    config: Config, run: Callable[[Config], int], ignored: Sequence[str] = ()
) -> int:
    """Run a command with its settings, and return the exit status as ``main`` does."""
    configure_logs(config.log_level, config.log_format, process=config.process_name)
    if ignored:
        logger.info("ignored environment variables: %s", ", ".join(ignored))
    try:
        require_utf8()
        return run(config)
    except ConfigError as error:
        print_error(error)
        return EXIT_CONFIG
    except (EmbeddedPostgresError, MigrationError, ServiceError, StartError) as error:
        print_error(error)
        return EXIT_FAILED
    except (OperationalError, InsufficientPrivilege) as error:
        print_error(error.diag.message_primary or error)
        return EXIT_FAILED
    except ReadOnlySqlTransaction:
        print_error(TAKES_ONLY_READS)
        return EXIT_FAILED


def build_parser(loaded: Container[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser, with the options of the ``loaded`` commands."""
    parser = argparse.ArgumentParser(
        prog="agent-runtime",
        description="Control plane of an agent runtime over one event log.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EPILOG,
    )
    parser.add_argument(
        "--version",
        action="version",
        version=__version__,
        help="print the version and exit",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, help_text in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=help_text)
        if name in loaded:
            import_module(f"service.cli.{name}").add_to(subparser)
    return parser
