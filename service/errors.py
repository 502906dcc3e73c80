"""The expected failures: of requests, and of starting a process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Headers of refusals that pass by themselves, in seconds.
RETRY_LATER: Final = {"Retry-After": "1"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a request: its path, and a message."""

    path: str
    message: str


class ServiceError(Exception):
    """A failure that the caller is told about.

    The message is for the caller: it names the thing and the rule, never a
    secret and never something that the caller may not know. ``code`` is a stable
    name in snake_case for programs.
    """

    code = "error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        problems: Sequence[Problem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.problems = tuple(problems)
        self.headers = dict(headers or {})


class MalformedRequestError(ServiceError):
    """The request can't be read: not JSON, or a bad query parameter."""

    code = "malformed_request"


class InvalidRequestError(ServiceError):
    """The request can be read, but breaks a rule."""

    code = "invalid_request"


class UnauthenticatedError(ServiceError):
    code = "unauthenticated"


class ForbiddenError(ServiceError):
    code = "forbidden"


class NotFoundError(ServiceError):
    code = "not_found"


class ConflictError(ServiceError):
    code = "conflict"


class PreconditionFailedError(ServiceError):
    """The caller's If-Match names another version than the current one."""

    code = "precondition_failed"


class TooLargeError(ServiceError):
    code = "too_large"


class UnsupportedMediaTypeError(ServiceError):
    code = "unsupported_media_type"


class TooManyRequestsError(ServiceError):
    code = "too_many_requests"


class MisdirectedError(ServiceError):
    """The request is a command, and this process answers reads only."""

    code = "reads_only"


class UnavailableError(ServiceError):
    """The request is valid, but can't be served now; a retry may succeed."""

    code = "unavailable"


class ConfigError(Exception):
    """A setting, or a file that it names, can't be used; the message says which."""


class StartError(Exception):
    """A process can't start although its settings are valid; the message says why."""
