"""The command line: ``agent-runtime``."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import OperationalError
from psycopg.errors import InsufficientPrivilege

from service import __version__
from service.audit_options import add_audit_commands
from service.config import NO_OPTION, Config, ConfigError, StartError, variable_of
from service.database import wait_for_server
from service.embedded_postgres import EmbeddedPostgres
from service.embedded_postgres.errors import DataFolderInUseError, EmbeddedPostgresError
from service.errors import ServiceError
from service.hardening import forbid_dumps
from service.logs import configure_logs
from service.migrate import MigrationError
from service.topic_options import add_topic_commands

EXIT_CONFIG = 78
EXIT_FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0, 1 failed, 78 bad setting."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    try:
        config = Config.read(vars(options), os.environ)
    except ConfigError as error:
        print(f"agent-runtime: {error}", file=sys.stderr)
        return EXIT_CONFIG
    configure_logs(config.log_level)
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


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; its help is the reference of the command line."""
    parser = argparse.ArgumentParser(
        prog="agent-runtime",
        description="The control plane of an agent runtime over one event log.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    settings = _settings()
    serve = commands.add_parser(
        "serve",
        parents=[settings],
        help="answer HTTP, follow the log, publish",
        description="Answer HTTP, follow the log and publish, until SIGTERM.",
    )
    serve.set_defaults(run=_serve)
    migrate = commands.add_parser(
        "migrate", parents=[settings], help="bring the database up to date"
    )
    migrate.set_defaults(run=_migrate)
    rebuild = commands.add_parser(
        "rebuild",
        parents=[settings],
        help="fill a projection's tables again from the log",
    )
    rebuild.add_argument("projection", help="its name, or 'all'")
    rebuild.set_defaults(run=_rebuild)
    token = commands.add_parser("token", help="bearer tokens")
    issue = token.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "issue",
        parents=[settings],
        help="issue a token for a user and print it, once",
    )
    issue.add_argument("user", help="the user's name")
    issue.set_defaults(run=_token_issue)
    prices = commands.add_parser("prices", help="prices of models")
    _add_prices_import(prices, settings)
    doctor = commands.add_parser(
        "doctor",
        parents=[settings],
        help="look for what is wrong with an installation; exits 1 if anything is",
    )
    doctor.set_defaults(run=_doctor)
    topic = commands.add_parser("topic", help="the event topic in Kafka")
    add_topic_commands(topic, settings)
    topic.set_defaults(run=_topic)
    audit = commands.add_parser(
        "audit", help="read the history, and prove that nothing was rewritten"
    )
    add_audit_commands(audit, settings)
    audit.set_defaults(run=_audit)
    keys = commands.add_parser("keys", help="keys that secrets are sealed under")
    _add_keys_commands(keys, settings)
    return parser


def _add_prices_import(
    prices: argparse.ArgumentParser, settings: argparse.ArgumentParser
) -> None:
    parser = prices.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "import",
        parents=[settings],
        help="bring the catalog to what a price list says",
        description="Bring the catalog to what a price list says. Prices set by "
        "hand stay, models that the list has not stay, and suspicious changes are "
        "held back until they are confirmed. A second run changes nothing.",
    )
    parser.add_argument(
        "file",
        help="a LiteLLM model_prices_and_context_window.json, or 'genai-prices' for "
        "the installed package",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show the difference, change nothing"
    )
    parser.add_argument(
        "--confirm",
        action="append",
        default=[],
        metavar="PROVIDER/MODEL",
        help="apply a change that is held back; 'all' for every one",
    )
    parser.add_argument(
        "--undated-since",
        metavar="TIME",
        help="since when a price counts that the list doesn't date (default: now)",
    )
    parser.set_defaults(run=_prices_import)


def _add_keys_commands(
    keys: argparse.ArgumentParser, settings: argparse.ArgumentParser
) -> None:
    commands = keys.add_subparsers(required=True, metavar="COMMAND")
    rotate = commands.add_parser(
        "rotate",
        parents=[settings],
        help="put everything under a new root key, while the service runs",
        description="Put everything under a new root key, while the service runs. "
        "Stopped half-way, it goes on when it is started again.",
    )
    rotate.set_defaults(run=_keys_rotate)
    status = commands.add_parser(
        "status", parents=[settings], help="say what is sealed under what"
    )
    status.set_defaults(run=_keys_status)


def _settings() -> argparse.ArgumentParser:
    """Return the options that every command shares, one for each setting."""
    parser = argparse.ArgumentParser(add_help=False)
    group = parser.add_argument_group("settings")
    for name, field in Config.model_fields.items():
        if name in NO_OPTION:
            continue
        option = "--" + name.replace("_", "-")
        words = f"{field.description} [{variable_of(name)}]"
        if field.default not in (None, False):
            words += f" (default: {field.default})"
        if field.annotation is bool:
            group.add_argument(option, action="store_true", default=None, help=words)
        else:
            group.add_argument(option, metavar=name.split("_")[-1].upper(), help=words)
    return parser


@contextmanager
def _database(config: Config) -> Iterator[tuple[str, EmbeddedPostgres | None]]:
    """Yield the database's URL, starting the embedded one where none is given."""
    try:
        config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{config.data_dir} can't be the data folder: {error.strerror}"
        ) from None
    if config.database_url is not None:
        yield config.database_url, None
        return
    with EmbeddedPostgres.start(config.data_dir) as postgres:
        yield postgres.url, postgres


@contextmanager
def _database_in_use(config: Config) -> Iterator[str]:
    """Yield the database's URL, also while a service is running on the folder."""
    if config.database_url is None and not EmbeddedPostgres.is_in(config.data_dir):
        raise ConfigError(
            f"there is no database in {config.data_dir}; is it another data folder, "
            "or has the service never been started there?"
        )
    try:
        with _database(config) as (url, _):
            from service.migrate import migrate

            migrate(url)
            yield url
    except DataFolderInUseError:
        yield EmbeddedPostgres.url_of_running(config.data_dir)


@contextmanager
def _database_to_read(config: Config) -> Iterator[str]:
    """Yield the database's URL and leave an external one, perhaps a replica, alone."""
    if config.database_url is not None:
        yield config.database_url
        return
    with _database_in_use(config) as url:
        yield url


def _run(work: Coroutine[Any, Any, int]) -> int:
    import uvloop

    try:
        return uvloop.run(work)
    except asyncio.CancelledError:
        return EXIT_FAILED


def _serve(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    with _database(config) as (url, postgres):
        from service.migrate import migrate
        from service.serve import serve

        if postgres is None:
            wait_for_server(url)
        migrate(url)
        return _run(serve(config, url, postgres))


def _migrate(config: Config, _options: argparse.Namespace) -> int:
    with _database(config) as (url, _):
        from service.migrate import migrate

        applied = migrate(url)
    print("\n".join(applied) or "nothing to do")
    return 0


def _rebuild(config: Config, options: argparse.Namespace) -> int:
    with _database_in_use(config) as url:
        from service.administration import rebuild_projections

        return _run(rebuild_projections(url, options.projection))


def _token_issue(config: Config, options: argparse.Namespace) -> int:
    with _database_in_use(config) as url:
        from service.administration import issue_token

        return _run(issue_token(config, url, options.user))


def _prices_import(config: Config, options: argparse.Namespace) -> int:
    with _database_in_use(config) as url:
        from service.administration import PriceImport, import_price_list

        wanted = PriceImport(
            name=options.file,
            dry_run=options.dry_run,
            confirm=options.confirm,
            undated_since=options.undated_since,
        )
        return _run(import_price_list(config, url, wanted))


def _doctor(config: Config, _options: argparse.Namespace) -> int:
    with _database_in_use(config) as url:
        from service.administration import show_health

        return _run(show_health(config, url))


def _topic(config: Config, options: argparse.Namespace) -> int:
    from service.topic import run_topic_command

    # Neither reads the log, and both may run where there is no database.
    if options.topic_command in ("create", "tail"):
        return _run(run_topic_command(config, "", options))
    with _database_in_use(config) as url:
        return _run(run_topic_command(config, url, options))


def _audit(config: Config, options: argparse.Namespace) -> int:
    from service import review

    if options.audit == "verify":
        return review.verify(options)
    commands = {
        "events": review.write_events,
        "checkpoint": review.print_checkpoint,
        "replay": review.replay_state,
    }
    with _database_to_read(config) as url:
        return _run(commands[options.audit](url, options))


def _keys_rotate(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    with _database_in_use(config) as url:
        from service.administration import rotate_keys

        return _run(rotate_keys(config, url))


def _keys_status(config: Config, _options: argparse.Namespace) -> int:
    forbid_dumps()
    with _database_in_use(config) as url:
        from service.administration import show_keys

        return _run(show_keys(config, url))
