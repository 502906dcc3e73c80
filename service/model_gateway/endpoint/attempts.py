"""Ask the targets of a call, one after the other, until one has answered."""

import logging
from dataclasses import dataclass
from math import ceil
from time import monotonic

from service.circuit_breaker import REST_MAX_S
from service.errors import UnavailableError
from service.model_gateway.calls.call_record import NO_ANSWER, AttemptOutcome
from service.model_gateway.calls.suspensions import Suspensions, Trial
from service.model_gateway.endpoint.answers import (
    Answer,
    NoAnswerError,
    NotAskedError,
)
from service.model_gateway.endpoint.asking import Asking
from service.model_gateway.endpoint.client_call import ClientCall
from service.model_gateway.presets.terms import PresetTerms
from service.model_gateway.protocol.limited import (
    TOO_MANY_REQUESTS,
    is_out_of_credit,
    retry_after_s,
)
from service.model_gateway.protocol.streams import has_failed_at_once
from service.model_gateway.routing.plan import PlannedTarget

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer that a client gets, of a target, and the trial that it was.

    ``trial`` is None where it has said of itself that it can't answer now.
    """

    answer: Answer
    target: PlannedTarget
    trial: Trial | None


class Attempts:
    """Asks targets, and leaves alone those that can't answer."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._suspensions = Suspensions()

    async def answered(
        self, call: ClientCall, targets: list[PlannedTarget], terms: PresetTerms
    ) -> Answered:
        """Return the first answer that counts, or else the last one that doesn't.

        :raises UnavailableError: no target has answered
        :raises ServiceError: the call may not be made any more
        """
        last: Answered | None = None
        reasons: list[str] = []
        tried = 0
        try:
            for target in targets:
                trial, since = self._suspensions.trial(target), monotonic()
                if trial is None:
                    call.record.attempt(target, AttemptOutcome.SUSPENDED, since=since)
                    continue
                tried += 1
                try:
                    found = await self._one(call, target, trial, terms)
                except NoAnswerError as error:
                    _log(call, target, str(error))
                    reasons.append(str(error))
                else:
                    _close(last)
                    last = found
                    if found.trial is not None:
                        break
                if tried == terms["attempts"]:
                    break
        except BaseException:
            _close(last)
            raise
        if last is not None:
            return last
        if not reasons:
            raise self._all_suspended(targets)
        raise UnavailableError(
            f"no provider has answered: {'; '.join(dict.fromkeys(reasons))}",
            code=NO_ANSWER,
        )

    async def _one(
        self, call: ClientCall, target: PlannedTarget, trial: Trial, terms: PresetTerms
    ) -> Answered:
        """Return the answer of one target, with its trial if the answer counts.

        :raises NoAnswerError: there is none
        """
        since, admitted = monotonic(), call.record.times_admitted
        try:
            answer = await self._asking.ask(call, target, terms)
        except NoAnswerError as error:
            if isinstance(error, NotAskedError):
                trial.undecided()
            else:
                trial.failed()
            call.record.attempt(target, error.outcome, since=since)
            raise
        except BaseException:
            trial.undecided()
            if call.record.times_admitted > admitted:
                call.record.attempt(target, AttemptOutcome.GIVEN_UP, since=since)
            raise
        outcome, reason = _falls_back(call, answer, terms, trial)
        call.record.attempt(target, outcome, since=since, status=answer.status)
        if reason is None:
            trial.has_begun()
            return Answered(answer=answer, target=target, trial=trial)
        _log(call, target, reason)
        return Answered(answer=answer, target=target, trial=None)

    def _all_suspended(self, targets: list[PlannedTarget]) -> UnavailableError:
        wait_s = max(1, ceil(min(map(self._suspensions.rest_left_s, targets))))
        return UnavailableError(
            "every target of this model has failed, or is limited or out of credit, "
            f"and is left alone; call again in {wait_s} s",
            code="targets_suspended",
            headers={"Retry-After": str(wait_s)},
        )


def _close(answered: Answered | None) -> None:
    """Give up an answer that the client doesn't get."""
    if answered is not None:
        answered.answer.response.close()


def _log(call: ClientCall, target: PlannedTarget, reason: str) -> None:
    logger.warning(
        "the target %s of the model connection %s has not answered a call: %s",
        target.target["model"],
        target.connection.id,
        reason,
        extra={"request_id": call.request.request_id},
    )


def _falls_back(
    call: ClientCall, answer: Answer, terms: PresetTerms, trial: Trial
) -> tuple[AttemptOutcome, str | None]:
    """Say whether another target is to answer, and why, and leave this one alone."""
    status, rest_s = answer.status, retry_after_s(answer.response)
    if is_out_of_credit(status, answer.held):
        trial.suspend(REST_MAX_S)
        return AttemptOutcome.OUT_OF_CREDIT, "it is out of credit"
    if answer.is_stream and has_failed_at_once(call.endpoint.dialect, answer.held):
        trial.failed()
        return AttemptOutcome.STREAM_ERROR, "its stream began with an error"
    if status not in terms["fall_back_on"]:
        return AttemptOutcome.ANSWERED, None
    if status == TOO_MANY_REQUESTS or rest_s is not None:
        trial.suspend(rest_s)
    else:
        trial.failed()
    return AttemptOutcome.STATUS, f"it answered by status {status}"
