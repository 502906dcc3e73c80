"""The exceptions of calls."""

from collections.abc import Sequence
from typing import Final, NamedTuple


class Problem(NamedTuple):
    """One of the problems of a request, such as ``rules[3].stance`` and why."""

    path: str
    message: str


class AgentRuntimeError(Exception):
    """A call failed; ``code`` says why, for programs.

    ``status`` is None without an answer of the service. ``idempotency_key`` is that of
    the command: pass it again to repeat the same command safely. ``etag`` is the
    current version of the resource, where the service sends it. ``retry_after_s`` is
    how long the service asks to wait. ``attempts`` is how many were made.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        problems: Sequence[Problem] = (),
        request_id: str | None = None,
        idempotency_key: str | None = None,
        etag: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.problems = tuple(problems)
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.etag = etag
        self.retry_after_s = retry_after_s
        self.attempts = 1

    def __str__(self) -> str:
        """Return one line: status, code, message, problems, ids."""
        status = "" if self.status is None else f"{self.status} "
        problems = "".join(f"; {each.path}: {each.message}" for each in self.problems)
        ids = [
            f"{name} {value}"
            for name, value in (
                ("request", self.request_id),
                ("idempotency key", self.idempotency_key),
                ("attempts", self.attempts if self.attempts > 1 else None),
            )
            if value is not None
        ]
        known = f" ({', '.join(ids)})" if ids else ""
        return f"{status}{self.code}: {self.message}{problems}{known}"


class ConnectionFailedError(AgentRuntimeError):
    """There was no answer; a command was not executed, or it was only a read."""


class OutcomeUnknownError(AgentRuntimeError):
    """The command may have been executed: repeat it with its ``idempotency_key``."""


class UnreadableAnswerError(AgentRuntimeError):
    """The answer is not one of this API; a proxy may have sent it."""


class WrongServerError(AgentRuntimeError):
    """The URL leads to another server, or to one whose certificate isn't trusted.

    Nothing was executed.
    """


class VerificationFailedError(AgentRuntimeError):
    """The log is not as it was signed."""


class MalformedRequestError(AgentRuntimeError):
    """400: a parameter or header is invalid."""


class UnauthenticatedError(AgentRuntimeError):
    """401: there is no valid token."""


class ForbiddenError(AgentRuntimeError):
    """403: the caller may not do this."""


class NotFoundError(AgentRuntimeError):
    """404: the resource doesn't exist, or the caller can't see it."""


class ConflictError(AgentRuntimeError):
    """409: the request conflicts with the current state."""


class LogEpochChangedError(ConflictError):
    """409: the log was restored, so positions of earlier answers are invalid.

    The client has forgotten them: the next call is about the restored log.
    """


class PreconditionFailedError(AgentRuntimeError):
    """412: ``if_match`` is not the current version, which is in ``etag``."""


class InvalidRequestError(AgentRuntimeError):
    """422: the request breaks a rule; ``problems`` has every problem."""


class IdempotencyKeyReusedError(InvalidRequestError):
    """422: the key was used for another request."""


class RateLimitedError(AgentRuntimeError):
    """429: too many calls; wait for ``retry_after_s``."""


class UnavailableError(AgentRuntimeError):
    """503: the service is temporarily unavailable; nothing was changed."""


BY_CODE: Final[dict[str, type[AgentRuntimeError]]] = {
    "log_epoch_changed": LogEpochChangedError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "outcome_unknown": OutcomeUnknownError,
}
# For codes that have no class of their own.
BY_STATUS: Final[dict[int, type[AgentRuntimeError]]] = {
    400: MalformedRequestError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: InvalidRequestError,
    429: RateLimitedError,
    503: UnavailableError,
}
