"""Exit codes, and errors as the command line shows them."""

import json
from enum import IntEnum
from typing import Any, Final

from agent_runtime_client import errors
from agent_runtime_client.errors import AgentRuntimeError


class ExitCode(IntEnum):
    """The exit codes, for scripts."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    CONFLICT = 5
    UNAVAILABLE = 6


class UsageError(Exception):
    """The command line, a setting or a file is wrong; nothing was sent."""


class DeclinedError(Exception):
    """The person at the terminal said no; nothing was sent."""


_EXIT_CODES: Final[tuple[tuple[type[AgentRuntimeError], ExitCode], ...]] = (
    (errors.NotFoundError, ExitCode.NOT_FOUND),
    (errors.UnauthenticatedError, ExitCode.NOT_ALLOWED),
    (errors.ForbiddenError, ExitCode.NOT_ALLOWED),
    (errors.ConflictError, ExitCode.CONFLICT),
    (errors.PreconditionFailedError, ExitCode.CONFLICT),
    (errors.RateLimitedError, ExitCode.UNAVAILABLE),
    (errors.UnavailableError, ExitCode.UNAVAILABLE),
    (errors.OutcomeUnknownError, ExitCode.UNAVAILABLE),
    (errors.ConnectionFailedError, ExitCode.UNAVAILABLE),
    (errors.UnreadableAnswerError, ExitCode.UNAVAILABLE),
)


def exit_code_of(error: AgentRuntimeError) -> ExitCode:
    for kind, code in _EXIT_CODES:
        if isinstance(error, kind):
            return code
    return ExitCode.REFUSED


def text_of(error: AgentRuntimeError) -> str:
    """Return an error for people: what happened, each problem, and how to repeat it."""
    lines = [f"art: {error.message} ({error.code})"]
    lines += [f"  {each.path}: {each.message}" for each in error.problems]
    if exit_code_of(error) is ExitCode.UNAVAILABLE and error.idempotency_key:
        lines.append(f"  repeat it with --idempotency-key {error.idempotency_key}")
    if error.request_id:
        lines.append(f"  request {error.request_id}")
    return "\n".join(lines)


def json_of(error: AgentRuntimeError) -> str:
    """Return an error for programs, as one line of JSON."""
    data: dict[str, Any] = {
        "code": error.code,
        "status": error.status,
        "message": error.message,
        "errors": [each._asdict() for each in error.problems],
        "request_id": error.request_id,
        "idempotency_key": error.idempotency_key,
    }
    return json.dumps(data, ensure_ascii=False)
