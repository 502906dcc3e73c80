"""What is recorded of a model call, while it is under way."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from time import monotonic
from typing import Final
from uuid import UUID, uuid4

import psycopg

from service.agent_tokens.caller import Caller
from service.call_recording.modes import RecordMode
from service.errors import ServiceError
from service.model_gateway.calls.figures import Figures
from service.model_gateway.calls.recorded import AnswerDigests, CallAttempt
from service.model_gateway.dialects import Dialect
from service.model_gateway.routing.plan import PlannedTarget
from service.unavailable import unavailable

NAME_CHARACTERS_MAX: Final = 256
# The code of the error that a client gets when no provider has answered.
NO_ANSWER: Final = "no_answer"


class CallOutcome(StrEnum):
    """How an admitted call ended."""

    OK = "ok"
    # The agent got the provider's own error, also one that ended a stream.
    PROVIDER_ERROR = "provider_error"
    NO_ANSWER = "no_answer"
    # Of the answer, the agent got the beginning.
    CUT = "cut"
    TIMEOUT = "timeout"
    # By the client, which has left or doesn't read.
    CANCELLED = "cancelled"
    # The service has stopped.
    STOPPED = "stopped"
    # It could have been sent to another target, and wasn't allowed any more.
    REFUSED = "refused"


class AttemptOutcome(StrEnum):
    """What came of asking a target."""

    ANSWERED = "answered"
    STATUS = "status"
    OUT_OF_CREDIT = "out_of_credit"
    STREAM_ERROR = "stream_error"
    UNREACHABLE = "unreachable"
    LATE = "late"
    SILENT = "silent"
    CUT = "cut"
    NOT_HTTP = "not_http"
    REDIRECTED = "redirected"
    CREDENTIAL_REPEATED = "credential_repeated"
    CREDENTIAL_UNUSABLE = "credential_unusable"
    CHANGED = "changed"
    SUSPENDED = "suspended"
    # The call ended before this target had answered.
    GIVEN_UP = "given_up"


# The provider may have answered, and nobody knows what that costs.
COST_UNKNOWN: Final = frozenset(
    {
        AttemptOutcome.LATE,
        AttemptOutcome.SILENT,
        AttemptOutcome.CUT,
        AttemptOutcome.NOT_HTTP,
        AttemptOutcome.CREDENTIAL_REPEATED,
        AttemptOutcome.GIVEN_UP,
    }
)


class ChosenBy(StrEnum):
    """Why a target is the first that is asked."""

    RESPONSE = "response"
    SESSION = "session"
    WEIGHT = "weight"
    WINDOW = "window"


@dataclass(slots=True, kw_only=True)
class CallRecord:
    """A call; ``mode`` is None until it is admitted.

    ``began`` is ``started_at`` by the monotonic clock.
    ``planned`` is the mode as far as this process knows. ``is_doubtful`` if nobody has
    waited for an admission's end: the log knows whether there is one.
    ``times_admitted`` is more than 1 if it was sent again.
    """

    caller: Caller
    dialect: Dialect
    started_at: datetime
    began: float
    asked_for: str | None = None
    session_id: str | None = None
    trace_id: str | None = None
    call_id: UUID = field(default_factory=uuid4)
    counts_only: bool = False
    request_bytes: int = 0
    planned: RecordMode = RecordMode.STRICT
    mode: RecordMode | None = None
    is_doubtful: bool = False
    chosen_by: ChosenBy = ChosenBy.WEIGHT
    times_admitted: int = 0
    target: PlannedTarget | None = None
    attempts: list[CallAttempt] = field(default_factory=list)
    outcome: CallOutcome | None = None
    reason: str | None = None
    status: int | None = None
    duration_ms: int = 0
    first_byte_ms: int | None = None
    answer_bytes: int = 0
    figures: Figures = field(default_factory=Figures)
    digests: AnswerDigests | None = None

    def elapsed_ms(self) -> int:
        return _ms_since(self.began)

    def attempt(
        self,
        target: PlannedTarget,
        outcome: AttemptOutcome,
        *,
        since: float,
        status: int | None = None,
    ) -> None:
        """Note what came of asking a target, or why it wasn't asked."""
        connection_id, model = target.key
        self.attempts.append(
            {
                "connection_id": connection_id,
                "model": model,
                "outcome": outcome.value,
                "status": status,
                "duration_ms": _ms_since(since),
            }
        )

    def fail(self, error: BaseException, *, has_client: bool) -> None:
        """Note why the agent gets no whole answer, unless that is known."""
        if isinstance(error, psycopg.OperationalError):
            error = unavailable(error)
        if isinstance(error, ServiceError):
            # The code that the agent gets, also where the outcome says more.
            self.reason = error.code
        if self.outcome is not None:
            return
        if isinstance(error, ServiceError):
            is_unanswered = error.code == NO_ANSWER
            self.outcome = (
                CallOutcome.NO_ANSWER if is_unanswered else CallOutcome.REFUSED
            )
        elif has_client or isinstance(error, asyncio.CancelledError):
            # A service that stops resets its connections in the same moment; of a
            # client that leaves, the error is another one.
            self.outcome = CallOutcome.STOPPED
        else:
            self.outcome, self.reason = CallOutcome.CANCELLED, "cancelled"

    @property
    def is_cost_unknown(self) -> bool:
        """Whether an attempt may have cost something that nobody tells."""
        return any(each["outcome"] in COST_UNKNOWN for each in self.attempts)

    @property
    def is_answered(self) -> bool:
        """Whether a provider has answered by no error."""
        return any(
            each["outcome"] == AttemptOutcome.ANSWERED
            and (each["status"] or 0) < HTTPStatus.BAD_REQUEST
            for each in self.attempts
        )


def _ms_since(moment: float) -> int:
    return round((monotonic() - moment) * 1000)


def recordable(name: object, characters_max: int = NAME_CHARACTERS_MAX) -> str | None:
    """Return a name that a client has sent; None for what no event can hold."""
    if not isinstance(name, str) or not name.isprintable():
        return None
    return name if 0 < len(name) <= characters_max else None
