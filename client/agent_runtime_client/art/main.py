"""The entry point of ``art``."""

import argparse
import os
import sys
from collections.abc import Sequence

from agent_runtime_client.art.options import after_the_verb
from agent_runtime_client.art.parser import build

# As shells report a program that the reader of a pipe has left.
READER_LEFT = 141
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    try:
        return _main(argv)
    except KeyboardInterrupt:
        return INTERRUPTED


def _main(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    parser = build(arguments)
    options = parser.parse_args(after_the_verb(arguments, parser.refuse))
    if not hasattr(options, "run"):
        getattr(options, "print_help", parser.print_help)()
        return 0
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    # Here, as --help needs none of them.
    from agent_runtime_client.art import output
    from agent_runtime_client.art.commands import DryRunError, note
    from agent_runtime_client.art.errors import (
        DeclinedError,
        ExitCode,
        UsageError,
        exit_code_of,
        json_of,
        text_of,
    )
    from agent_runtime_client.errors import AgentRuntimeError

    options.is_output_chosen = options.output is not None
    options.output = options.output or output.default_format()
    try:
        return int(options.run(options) or ExitCode.DONE)
    except AgentRuntimeError as error:
        is_json = options.output in ("json", "jsonl")
        note(json_of(error) if is_json else text_of(error))
        return exit_code_of(error)
    except UsageError as error:
        note(f"art: {error}")
        return ExitCode.USAGE
    except DeclinedError:
        note("nothing was sent")
        return ExitCode.REFUSED
    except DryRunError:
        note("dry run: nothing was sent")
        return ExitCode.DONE
    except BrokenPipeError:
        # Python would complain about the pipe once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
