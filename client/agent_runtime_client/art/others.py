"""Commands that belong to no area: ``art api`` and ``art completion``."""

import argparse
import re
from collections.abc import Callable, Mapping

from agent_runtime_client.art.commands import caller_of, write
from agent_runtime_client.art.completion import SHELLS, script_for
from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.help_texts import OTHERS, flag_of
from agent_runtime_client.art.input import read_bytes
from agent_runtime_client.art.options import add_common
from agent_runtime_client.encoding import parse_json

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def add_others(
    parsers: Mapping[str, argparse.ArgumentParser],
    whole: Callable[[], argparse.ArgumentParser],
) -> None:
    """Add the arguments; ``whole`` returns the parser with every verb."""
    api = parsers["api"]
    api.add_argument(
        "http_method",
        metavar="METHOD",
        choices=METHODS,
        type=str.upper,
        help=", ".join(METHODS),
    )
    api.add_argument(
        "path", metavar="PATH", help="path and query, such as /api/users?limit=2"
    )
    api.add_argument("--body", metavar="FILE", help="JSON; - is standard input")
    for name, metavar in (("if_match", "VERSION"), ("idempotency_key", "KEY")):
        api.add_argument(flag_of(name), metavar=metavar, help=OTHERS[name])
    add_common(api, call_api)
    completion = parsers["completion"]
    completion.add_argument("shell", choices=SHELLS, help="the shell to write it for")
    completion.set_defaults(whole=whole)
    add_common(completion, complete)


def call_api(options: argparse.Namespace) -> None:
    """Send one request as it is, and write the data of its answer."""
    from agent_runtime_client.operation import Operation

    if not options.path.startswith("/"):
        raise UsageError("a path begins with /, such as /api/users")
    operation = Operation(
        f"{options.http_method} {options.path}",
        options.http_method,
        options.path,
        takes_key=options.idempotency_key is not None
        or _takes_key(options.http_method, options.path),
    )
    try:
        content = None if options.body is None else read_bytes(options.body)
    except OSError as error:
        raise UsageError(str(error)) from None
    with caller_of(options) as caller:
        call = caller.call(
            operation,
            content=content,
            if_match=options.if_match,
            idempotency_key=options.idempotency_key,
        )
        text = caller.send(call).text
    try:
        answer = parse_json(text.encode())
    except ValueError:
        write(text, options)
        return
    is_envelope = isinstance(answer, dict) and answer.keys() >= {"data", "message"}
    write(answer["data"] if is_envelope else answer, options)


def _takes_key(method: str, path: str) -> bool:
    """Say whether a request takes an Idempotency-Key; an unknown one takes none."""
    from agent_runtime_client import operations
    from agent_runtime_client.operation import Operation

    path = path.partition("?")[0]
    return any(
        each.takes_key
        for each in vars(operations).values()
        if isinstance(each, Operation)
        and each.method == method
        and re.fullmatch(re.sub(r"{[^}]*}", "[^/]+", each.path), path)
    )


def complete(options: argparse.Namespace) -> None:
    """Write the completion script of a shell."""
    write(script_for(options.shell, options.whole()), options)
