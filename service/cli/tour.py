"""``agent-runtime tour``."""

import argparse
import asyncio
import sys
from typing import Final

from service.cli.running import run_async
from service.cli.settings import add_settings
from service.config import Config
from service.logs import escape_unprintable

EXIT_INTERRUPTED: Final = 130


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show in the running demo a tool call that is allowed, one that is denied and "
        "one that a person is asked about, each with its reason, and the session that "
        "they are recorded in with its cost."
    )
    parser.add_argument(
        "--yes", action="store_true", help="approve the call that is asked about"
    )
    add_settings(parser)
    parser.set_defaults(run=tour_command)


def tour_command(config: Config, options: argparse.Namespace) -> int:
    from service.demo.access import Demo
    from service.demo.tour import run_tour

    demo = Demo.of(config.data_dir)
    has_person = sys.stdin.isatty() and not options.yes

    async def ask(question: str) -> bool:
        return not has_person or await _ask(question)

    async def tour() -> int:
        await run_tour(demo, _say, ask)
        _say(f"See it in the console, {demo.base_url}/console: Calls, Sessions")
        return 0

    try:
        return run_async(tour())
    except KeyboardInterrupt:
        print()
        return EXIT_INTERRUPTED


def _say(text: str) -> None:
    print("\n".join(map(escape_unprintable, text.split("\n"))), flush=True)


async def _ask(question: str) -> bool:
    """Ask on the terminal, while the call that waits for the answer is under way."""
    print(f"{question} [Y/n] ", end="", flush=True)
    has_input = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, has_input.set)
    try:
        await has_input.wait()
    finally:
        loop.remove_reader(sys.stdin)
    line = sys.stdin.readline()
    return line != "" and line.strip().lower() in ("", "y", "yes")
