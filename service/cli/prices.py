"""``agent-runtime prices import``."""

import argparse
import sys
from datetime import datetime

from service.cli.databases import (
    database_in_use,
    migrated_database,
    require_data_folder,
)
from service.cli.running import EXIT_FAILED, print_error, run_async
from service.cli.settings import add_settings
from service.config import Config
from service.database import service_conninfo
from service.errors import InvalidRequestError
from service.http.times import read_time
from service.logs import escape_unprintable
from service.open_resources import open_log
from service.price_catalog.imports.open_price_list import open_price_list
from service.price_catalog.imports.price_list import INVALID_PRICES
from service.price_catalog.imports.reconcile import REASONS
from service.price_catalog.imports.report import ImportOutcome, ImportReport
from service.price_catalog.imports.run import import_prices


def add_to(parser: argparse.ArgumentParser) -> None:
    importing = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "import",
        help="import a published price list",
        description="Update the price catalog from a published price list. Prices that "
        "were set manually and models that the list lacks are left unchanged; "
        "suspicious changes are held back until confirmed. Importing the same list "
        "again changes nothing.",
    )
    importing.add_argument(
        "file",
        help="a LiteLLM model_prices_and_context_window.json, or 'genai-prices' for "
        "the list in the installed package",
    )
    importing.add_argument(
        "--dry-run", action="store_true", help="print the changes without applying them"
    )
    importing.add_argument(
        "--confirm",
        action="append",
        default=[],
        metavar="PROVIDER/MODEL",
        help="apply a change that is held back, 'all' for all of them; repeatable",
    )
    importing.add_argument(
        "--undated-since",
        metavar="TIME",
        help="from when prices without a date are effective, ISO 8601 (default: now)",
    )
    add_settings(importing)
    importing.set_defaults(run=import_command)


def import_command(config: Config, options: argparse.Namespace) -> int:
    if options.dry_run:
        require_data_folder(config)
    opened = migrated_database if options.dry_run else database_in_use
    with opened(config) as url:
        return run_async(_import(service_conninfo(url), options))


async def _import(conninfo: str, options: argparse.Namespace) -> int:
    since = _time(options.undated_since) if options.undated_since else None
    try:
        price_list = await open_price_list(options.file)
    except OSError as error:
        print_error(f"can't read {options.file}: {error.strerror}")
        return EXIT_FAILED

    def progress(done: int, total: int) -> None:
        print(f"{done} of {total} models", file=sys.stderr, flush=True)

    async with open_log(conninfo) as resources:
        report = await import_prices(
            resources,
            price_list,
            dry_run=options.dry_run,
            confirm=options.confirm,
            progress=progress,
            undated_since=since,
        )
    _print_report(report)
    invalid = [row for row in report.skipped if row.code in INVALID_PRICES]
    if invalid:
        rows = "1 row has an" if len(invalid) == 1 else f"{len(invalid)} rows have an"
        print_error(f"{rows} invalid price: correct the list")
    listed = {result.key for result in report.results}
    unknown = [name for name in report.not_held if name not in listed]
    for name in unknown:
        print_error(f"--confirm {name}: the list has no such model to import")
    return EXIT_FAILED if invalid or unknown else 0


def _print_report(report: ImportReport) -> None:
    for result in report.results:
        if result.outcome is not ImportOutcome.UNCHANGED:
            line = f"{result.outcome} {escape_unprintable(result.key)}"
            reasons = "; ".join(REASONS[reason] for reason in result.held_because)
            if result.outcome is ImportOutcome.HELD:
                doubts = [str(each.doubt) for each in result.changes if each.doubt]
                reasons = "; ".join([reasons, *map(escape_unprintable, doubts)])
            print(f"{line}: {reasons}" if reasons else line)
    for row in report.skipped:
        name = escape_unprintable(f"{row.provider}/{row.model}".removeprefix("/"))
        print(f"skipped {name}: {escape_unprintable(row.reason)} ({row.code})")
    for key in report.vanished:
        print(f"vanished {escape_unprintable(key)}: the list no longer has it")
    for name in report.not_held:
        print(f"confirmed {escape_unprintable(name)}: nothing of it is held back")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in report.counts.items())
    print(counts + (" (dry run: nothing was changed)" if report.dry_run else ""))


def _time(text: str) -> datetime:
    try:
        return read_time(text)
    except ValueError as error:
        raise InvalidRequestError(f"--undated-since: {text!r}: {error}") from None
