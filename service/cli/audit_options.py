"""The options of ``agent-runtime audit``."""

import argparse

FILTERS = {
    "actor": "entries that this user caused, by id",
    "kind": "a type of event, or an aggregate for all of its types",
    "resource": "whatever is about this id, or names it",
    "request_id": "entries of one request",
    "from_time": "recorded at or after this time, ISO 8601",
    "until_time": "recorded before this time",
    "from_position": "at or after this position",
    "until_position": "at or before this position",
}


def add_audit_commands(
    audit: argparse.ArgumentParser, settings: argparse.ArgumentParser
) -> None:
    """Add the commands under ``audit``; each sets ``audit`` to its name."""
    commands = audit.add_subparsers(required=True, metavar="COMMAND", dest="audit")
    events = commands.add_parser(
        "events",
        parents=[settings],
        help="write the audit trail to a file",
        description="Write the audit trail, oldest first. Reads only, also on a "
        "replica; without filters, JSON Lines are what 'audit verify' takes.",
    )
    for name, words in FILTERS.items():
        events.add_argument("--" + name.replace("_", "-"), help=words)
    events.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")
    _add_output(events)
    checkpoint = commands.add_parser(
        "checkpoint",
        parents=[settings],
        help="print the newest signed head of the log",
    )
    checkpoint.add_argument(
        "--key", action="store_true", help="print the public key instead"
    )
    replay = commands.add_parser(
        "replay",
        parents=[settings],
        help="build the whole service's state as of a moment, beside the live one",
        description="Build all read tables as of a moment, in a schema of their own: "
        "who manages what, rules, grants, public connectors, prices, sessions. The "
        "live ones are not touched.",
    )
    replay.add_argument(
        "--at", required=True, help="a position of the log, or a time, ISO 8601"
    )
    replay.add_argument(
        "--schema", help="name of the new schema (default: replay_POSITION)"
    )
    replay.add_argument(
        "--into",
        metavar="URL",
        help="another database to build it in, for a replica can't be written",
    )
    verify = commands.add_parser(
        "verify",
        parents=[settings],
        help="hold an export against checkpoints, offline",
        description="Hold an export against checkpoints. Needs neither the service "
        "nor its database. Exits with 0 when nothing was changed, with 1 when "
        "something was, and names the first position.",
    )
    verify.add_argument("export", help="JSON Lines of the whole log; - is stdin")
    verify.add_argument(
        "--public-key",
        action="append",
        required=True,
        help="the key, or a file of it; may be given more than once",
    )
    verify.add_argument(
        "--checkpoint",
        action="append",
        required=True,
        help="a file of one or several, or a folder of such; may be given more "
        "than once",
    )
    verify.add_argument(
        "--earlier",
        help="an earlier export, to tell the very entry where the tree was "
        "rewritten too",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", default="-", help="file to write; - is stdout (default: -)"
    )
