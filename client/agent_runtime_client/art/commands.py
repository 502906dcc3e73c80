"""One run of a verb: the call, the question before a change, and the output."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from agent_runtime_client.art import output
from agent_runtime_client.art.arguments import parameters_of
from agent_runtime_client.art.errors import DeclinedError, UsageError
from agent_runtime_client.art.input import is_terminal
from agent_runtime_client.art.names import COLUMNS, ids_for_names, with_names
from agent_runtime_client.art.settings import TOKEN_FILE, Settings, settings_of
from agent_runtime_client.art.things import resource_of

# How many items of a list are shown unless --limit says otherwise, and asked for at
# once.
LIMIT: Final = 100
# Things whose answers may have warnings, each about a connector.
WARNED_OF: Final = frozenset({"connectors", "rules"})


class DryRunError(Exception):
    """The command was shown and not sent."""


def run_method(options: argparse.Namespace) -> None:
    """Call the method of the client that a verb stands for."""
    method = getattr(resource_of(options.thing), options.method)
    given = vars(options)
    try:
        arguments = {
            each.name: each.read(given)
            for each in parameters_of(method)
            if each.is_in(given)
        }
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from None
    if "dry_run" in {each.name for each in parameters_of(method)}:
        arguments["dry_run"] = options.dry_run
    if arguments.get("limit", 1) < 1:
        raise UsageError("--limit takes at least 1")
    with caller_of(options) as caller:
        arguments = ids_for_names(caller, arguments)
        try:
            result = method(resource_of(options.thing)(caller), **arguments)
        except ValueError as error:
            raise UsageError(str(error)) from None
        write(_shown(result, arguments.get("limit")), options, caller)
        if options.thing in WARNED_OF and isinstance(result, Mapping):
            from agent_runtime_client.art.rule_warnings import note_warnings

            note_warnings(caller, result)


def write(data: Any, options: argparse.Namespace, caller: Any = None) -> None:
    """Write the data of an answer as the options say.

    With a caller, tables have names beside the ids, and other formats if they are
    among the columns.

    :raises UsageError: a column isn't one of the data
    """
    columns = None
    if options.columns:
        columns = [each.strip() for each in options.columns.split(",")]
    names = {name for name, _ in COLUMNS.values()}
    shows_names = options.output == "table" if columns is None else names & {*columns}
    if caller is not None and data is not None and shows_names:
        data = with_names(caller, data)
    try:
        output.write(
            data, options.output, columns=columns, headers=not options.no_headers
        )
    except output.UnknownColumnError as error:
        raise UsageError(str(error)) from None


def _shown(result: Any, limit: int | None) -> Any:
    """Return the data to write; of a list at most so many items."""
    if not hasattr(result, "pages"):
        return output_bytes(result)
    return _limited(iter(result), limit or LIMIT)


def _limited(items: Iterator[Any], limit: int) -> Iterator[Any]:
    yield from islice(items, limit)
    if next(items, None) is not None:
        note(f"more than {limit} results exist; raise --limit to see them")


def output_bytes(result: Any) -> Any:
    return result.decode() if isinstance(result, bytes) else result


@contextmanager
def caller_of(options: argparse.Namespace) -> Iterator[Any]:
    """Connect to the service that the options name."""
    import httpx  # only for a call, not for --help

    from agent_runtime_client.art.caller import PlainCaller
    from agent_runtime_client.options import Options

    settings = settings_of(
        os.environ,
        server=options.server,
        token_file=options.token_file,
    )
    try:
        pool = httpx.Client()
    except (OSError, ValueError, httpx.InvalidURL) as error:
        # Of proxies and certificates, which httpx reads when it starts.
        raise UsageError(
            f"a variable of the environment can't be used: {error}; it is "
            "SSL_CERT_FILE, HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or NO_PROXY"
        ) from None
    with pool as http, _naming_the_service(settings):
        yield PlainCaller(
            http,
            settings.url.rstrip("/"),
            settings.token,
            Options(timeout_s=options.timeout),
            before=lambda call: before_command(call, options, settings.url),
        )


@contextmanager
def _naming_the_service(settings: Settings) -> Iterator[None]:
    """Say which service it was about, and where its URL or the token is from."""
    from agent_runtime_client import errors

    service = f"{settings.url} ({settings.source})"
    try:
        yield
    except errors.ConnectionFailedError as error:
        error.message = f"can't reach {service}: {error.message}"
        raise
    except (
        errors.OutcomeUnknownError,
        errors.UnreadableAnswerError,
        errors.WrongServerError,
    ) as error:
        error.message = f"{error.message}; the service is {service}"
        raise
    except errors.UnauthenticatedError as error:
        token = f"the token is from {settings.token_source}"
        if settings.token is None:
            token = f"no token was given; set {TOKEN_FILE} or --token-file"
        error.message = f"{error.message}; {token}"
        raise


def before_command(call: Any, options: argparse.Namespace, url: str) -> None:
    """Show what a command will do, and ask whether to go on.

    :raises DryRunError: it isn't to be sent
    :raises DeclinedError: the answer was no
    :raises UsageError: there is no terminal to ask on, and no ``--yes``
    """
    if options.yes and not options.dry_run:
        return
    note(f"{call.operation.method} {url.rstrip('/')}{call.path}")
    for line in _body_lines(call):
        note(f"  {line}")
    if options.dry_run:
        raise DryRunError
    confirm("send it?")


def confirm(question: str) -> None:
    """Ask on the terminal.

    :raises DeclinedError: the answer was no
    :raises UsageError: there is no terminal to ask on
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UsageError("this changes something: pass --yes, or run it on a terminal")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        # Ctrl-D leaves the cursor behind the question.
        note("")
    if answer.strip().lower() not in ("y", "yes"):
        raise DeclinedError


def _body_lines(call: Any) -> Iterator[str]:
    """Describe a body; the values of secrets are hidden."""
    if call.content is None:
        return
    try:
        body = json.loads(call.content)
    except ValueError:
        body = None
    if not isinstance(body, Mapping):
        yield f"({len(call.content)} bytes)"
        return
    is_secret = call.operation.path.startswith("/api/secrets")
    for name, value in body.items():
        if is_secret and name == "value":
            yield f"{name}: (hidden)"
        elif isinstance(value, list) and value:
            yield f"{name}:"
            yield from (f"  - {output.cell(each)}" for each in value)
        else:
            yield f"{name}: {output.cell(value)}"


def note(text: str) -> None:
    """Say something to the person, beside the data."""
    print(text, file=sys.stderr)
