"""Ask the targets of a call, one after the other, until one has answered."""

from dataclasses import dataclass
from math import ceil

from service.circuit_breaker import REST_MAX_S
from service.errors import UnavailableError
from service.model_gateway.calls.suspensions import Suspensions, Trial
from service.model_gateway.endpoint.answers import Answer, NoAnswerError
from service.model_gateway.endpoint.asking import Asking
from service.model_gateway.endpoint.client_call import ClientCall
from service.model_gateway.presets.terms import PresetTerms
from service.model_gateway.protocol.limited import (
    TOO_MANY_REQUESTS,
    is_out_of_credit,
    retry_after_s,
)
from service.model_gateway.routing.plan import PlannedTarget


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
        refused: Answered | None = None
        reasons: list[str] = []
        tried = 0
        for target in targets:
            if tried == terms["attempts"]:
                break
            trial = self._suspensions.trial(target)
            if trial is None:
                continue
            tried += 1
            try:
                answer = await self._asking.ask(call, target, terms)
            except NoAnswerError as error:
                trial.failed()
                reasons.append(str(error))
                continue
            except BaseException:
                trial.undecided()
                raise
            if not _falls_back(answer, terms, trial):
                trial.has_begun()
                return Answered(answer=answer, target=target, trial=trial)
            refused = Answered(answer=answer, target=target, trial=None)
        if refused is not None:
            return refused
        if not reasons:
            raise self._all_suspended(targets)
        raise UnavailableError(
            f"no provider has answered: {'; '.join(dict.fromkeys(reasons))}",
            code="no_answer",
        )

    def _all_suspended(self, targets: list[PlannedTarget]) -> UnavailableError:
        wait_s = max(1, ceil(min(map(self._suspensions.rest_left_s, targets))))
        return UnavailableError(
            "every target of this model has failed, or is limited or out of credit, "
            f"and is left alone; call again in {wait_s} s",
            code="targets_suspended",
            headers={"Retry-After": str(wait_s)},
        )


def _falls_back(answer: Answer, terms: PresetTerms, trial: Trial) -> bool:
    """Say whether another target is to answer, and leave this one alone if so."""
    status, rest_s = answer.status, retry_after_s(answer.response)
    if is_out_of_credit(status, answer.held):
        trial.suspend(REST_MAX_S)
        return True
    if status not in terms["fall_back_on"]:
        return False
    if status == TOO_MANY_REQUESTS or rest_s is not None:
        trial.suspend(rest_s)
    else:
        trial.failed()
    return True
