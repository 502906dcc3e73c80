"""The command line's words; its help is their reference."""

import argparse

from service import __version__
from service.cli import commands
from service.cli.audit_options import add_audit_commands
from service.cli.topic_options import add_topic_commands
from service.config import NO_OPTION, Config, variable_of


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; its help is the reference of the command line."""
    parser = argparse.ArgumentParser(
        prog="agent-runtime",
        description="The control plane of an agent runtime over one event log.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subcommands = parser.add_subparsers(required=True, metavar="COMMAND")
    settings = _settings()
    serve = subcommands.add_parser(
        "serve",
        parents=[settings],
        help="answer HTTP, follow the log, publish",
        description="Answer HTTP, follow the log and publish, until SIGTERM.",
    )
    serve.set_defaults(run=commands.serve)
    migrate = subcommands.add_parser(
        "migrate", parents=[settings], help="bring the database up to date"
    )
    migrate.set_defaults(run=commands.migrate)
    rebuild = subcommands.add_parser(
        "rebuild",
        parents=[settings],
        help="fill a projection's tables again from the log",
    )
    rebuild.add_argument("projection", help="its name, or 'all'")
    rebuild.set_defaults(run=commands.rebuild)
    token = subcommands.add_parser("token", help="bearer tokens")
    issue = token.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "issue",
        parents=[settings],
        help="issue a token for a user and print it, once",
    )
    issue.add_argument("user", help="the user's name")
    issue.set_defaults(run=commands.token_issue)
    prices = subcommands.add_parser("prices", help="prices of models")
    _add_prices_import(prices, settings)
    doctor = subcommands.add_parser(
        "doctor",
        parents=[settings],
        help="look for what is wrong with an installation; exits 1 if anything is",
    )
    doctor.set_defaults(run=commands.doctor)
    topic = subcommands.add_parser("topic", help="the event topic in Kafka")
    add_topic_commands(topic, settings)
    topic.set_defaults(run=commands.topic)
    audit = subcommands.add_parser(
        "audit", help="read the history, and prove that nothing was rewritten"
    )
    add_audit_commands(audit, settings)
    audit.set_defaults(run=commands.audit)
    keys = subcommands.add_parser("keys", help="keys that secrets are sealed under")
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
    parser.set_defaults(run=commands.prices_import)


def _add_keys_commands(
    keys: argparse.ArgumentParser, settings: argparse.ArgumentParser
) -> None:
    subcommands = keys.add_subparsers(required=True, metavar="COMMAND")
    rotate = subcommands.add_parser(
        "rotate",
        parents=[settings],
        help="put everything under a new root key, while the service runs",
        description="Put everything under a new root key, while the service runs. "
        "Stopped half-way, it goes on when it is started again.",
    )
    rotate.set_defaults(run=commands.keys_rotate)
    status = subcommands.add_parser(
        "status", parents=[settings], help="say what is sealed under what"
    )
    status.set_defaults(run=commands.keys_status)


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
