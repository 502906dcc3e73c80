"""What events say of model calls.

None has prompts, answers, credentials or a provider's words. Of an answer there are
digests of what its provider sent and of what the agent got.
"""

from typing_extensions import TypedDict

from service.events import Id
from service.sessions.turn import RecordedShare


class CallAttempt(TypedDict):
    """A target of a call, and what came of it.

    ``outcome`` is ``answered``, which is the answer that the agent got if it got one;
    or why another target was asked: ``status``, ``out_of_credit``, ``stream_error``,
    ``unreachable``, ``late``, ``silent``, ``cut``, ``not_http``, ``redirected``,
    ``credential_repeated``, ``credential_unusable``, ``changed`` or, for one that
    wasn't asked, ``suspended``; ``given_up`` where the call ended before. ``status`` is
    null where no answer was taken.
    """

    connection_id: Id
    model: str
    outcome: str
    status: int | None
    duration_ms: int


class CallUsage(RecordedShare):
    """What a call used, and its cost by the prices of its start.

    ``counts`` are the provider's by unit, ``conditions`` what else its price depends
    on: enough to price it again. ``estimated`` has ``attempts`` where an earlier target
    may have charged something, too.
    """

    counts: dict[str, int]
    conditions: dict[str, str]


class FinishedModelCall(TypedDict):
    """How a call ended.

    ``outcome`` is ``ok``, ``provider_error``, ``no_answer``, ``cut``, ``timeout``,
    ``cancelled``, ``stopped`` or ``refused``. ``status`` is that of the provider's
    answer that the agent got, null where it got none. Sizes are in bytes. ``usage`` is
    null for what costs nothing, such as a provider's error.
    """

    call_id: Id
    outcome: str
    status: int | None
    duration_ms: int
    first_byte_ms: int | None
    request_bytes: int
    answer_bytes: int
    attempts: list[CallAttempt]
    response_id: str | None
    usage: CallUsage | None


class AnswerDigests(TypedDict):
    """SHA-256, as hex, of an answer as its provider sent it, and as the agent got it.

    They differ where the gateway withholds the usage that it has asked for, and where
    it ends a stream that was cut.
    """

    received: str
    sent: str


class BatchedModelCall(TypedDict):
    """A call that was admitted in the mode ``batched``, or sent to another target.

    ``attempt`` counts from 1.
    """

    call_id: Id
    attempt: int
    user_id: Id | None
    dialect: str
    counts_only: bool
    asked_for: str | None
    route: str
    tier: str | None
    preset_id: Id
    preset_version: int
    connection_id: Id
    model: str
    chosen_by: str
    session_id: str | None
    trace_id: str | None
