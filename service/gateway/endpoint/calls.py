"""tools/call: check limits, decide, perhaps ask a person, forward."""

import asyncio
from time import time
from typing import Any, Final, NamedTuple

from service.gateway.endpoint.client_call import ClientCall
from service.gateway.endpoint.forwarding import Forwarder, Forwarding
from service.gateway.endpoint.questions import NoAnswerError, Questions
from service.gateway.endpoint.reply import KEEPALIVE_S
from service.gateway.endpoint.request_state import RequestState, RequestStates
from service.gateway.endpoint.results import failed, link_to_approval
from service.gateway.gate import (
    CallRequest,
    Gate,
    Pending,
    RefusalReason,
    Refused,
)
from service.gateway.protocol.errors import INVALID_PARAMS, RpcError
from service.gateway.upstream.errors import NOT_REACHABLE
from service.gateway.upstream.limits import CallLimits
from service.http.disconnect import cancelled_on_disconnect

UNANSWERED: Final = "the tool asked for input, and got none"
# Of one call of a client with a handshake; a stateless client counts by itself.
ROUNDS_MAX: Final = 10
ASKED_TOO_OFTEN: Final = f"the tool asked for input more than {ROUNDS_MAX} times"


class UnknownToolError(RpcError):
    """There is no such tool, or the agent must not learn more than that."""

    def __init__(self) -> None:
        super().__init__(INVALID_PARAMS, "unknown tool")


class Round(NamedTuple):
    """How one round of a call ended, and what has to be kept for the next."""

    result: dict[str, Any] | Refused | Pending
    kept: RequestState | None = None

    @property
    def is_last(self) -> bool:
        return (
            isinstance(self.result, Refused | Pending)
            or self.result["resultType"] != "input_required"
        )


class ToolCalls:
    """Answers the calls of one process.

    A person's answer is waited for during ``hold_s``, before the agent is told that it
    is pending, and that of a client with a handshake during ``answer_s``.
    ``approval_url`` is where people answer, with ``{approval_id}`` and
    perhaps ``{agent_id}`` in it.
    """

    def __init__(
        self,
        gate: Gate,
        forwarder: Forwarder,
        states: RequestStates,
        *,
        questions: Questions,
        hold_s: float,
        answer_s: float,
        approval_url: str | None = None,
    ) -> None:
        self._gate = gate
        self._questions = questions
        self._answer_s = answer_s
        self._forwarder = forwarder
        self._states = states
        self._hold_s = hold_s
        self._approval_url = approval_url
        self._limits = CallLimits()

    async def answer(self, call: ClientCall) -> dict[str, Any]:
        """Return the result of a call.

        :raises RpcError: the parameters are wrong, or there is no such tool
        :raises ServiceError: too many calls, no valid token, or it can't be recorded
        :raises ConnectionError: the client has left
        """
        request = call.request
        state = self._state(call)
        await self._check_limits(request)
        with self._limits.counted(request.caller.agent_id, request.connector_id):
            ended = await self._round(call, state)
            if not call.is_stateless:
                ended = await self._ask(call, ended)
        if isinstance(ended.result, Refused | Pending):
            return _not_admitted(ended.result)
        if ended.kept is not None:
            sealed = self._states.seal(ended.kept, request, time())
            ended.result["requestState"] = sealed
        return ended.result

    def _state(self, call: ClientCall) -> RequestState | None:
        params = call.message.params
        if "requestState" not in params:
            return None
        return self._states.open(params["requestState"], call.request, time())

    async def _check_limits(self, request: CallRequest) -> None:
        error = self._limits.reached(request.caller.agent_id, request.connector_id)
        if error is not None:
            await self._gate.refused(request, RefusalReason.TOO_MANY_CALLS)
            raise error

    async def _ask(self, call: ClientCall, ended: Round) -> Round:
        """Ask a client with a handshake, within its call, until that has its result.

        A stateless client asks by itself, and calls again.
        """
        for _ in range(ROUNDS_MAX):
            if ended.is_last or not isinstance(ended.result, dict):
                return ended
            requests = ended.result.get("inputRequests", {})
            try:
                answers = await self._questions.ask(call, requests, self._answer_s)
            except NoAnswerError as error:
                return Round(failed(f"{UNANSWERED}: {error}"))
            ended = await self._round(call.answering(answers), ended.kept)
        return ended if ended.is_last else Round(failed(ASKED_TOO_OFTEN))

    async def _round(self, call: ClientCall, state: RequestState | None) -> Round:
        if state is not None:
            call = call.continuing(state.continues)
        ended = await self._attempt(call, state)
        if isinstance(ended.result, Pending):
            link = self._link(call, state, ended.result)
            if link is not None:
                return Round(link, RequestState("approval"))
            ended = await self._hold(call, state, ended.result)
        return ended

    async def _attempt(
        self, call: ClientCall, state: RequestState | None, held_s: float = 0.0
    ) -> Round:
        """Decide a call, and forward it if it is admitted.

        None is admitted before its connector can be given it: that would use up a
        person's approval. At a suspension's end, one call at a time tries to connect.
        """
        breaker = self._forwarder.breaker(call.request.connector_id)
        if not breaker.allows_request():
            reason = RefusalReason.CIRCUIT_OPEN
            await self._gate.refused(call.request, reason)
            return Round(Refused(reason=reason, message=NOT_REACHABLE))
        trial = breaker.trial
        forwarding = Forwarding(call=call, state=state, held_s=held_s)
        try:
            result = await self._forwarder.run(forwarding)
        finally:
            breaker.undecided(trial)
        admission = forwarding.admission
        if isinstance(result, Refused | Pending) or admission is None:
            return Round(result)
        # What a person has approved is this call in all of its rounds.
        is_approved = admission.is_approved and result["resultType"] == "input_required"
        if not is_approved and "requestState" not in result:
            return Round(result)
        inner = result.get("requestState")
        continues = admission.call_id if is_approved else None
        return Round(result, RequestState("upstream", inner, continues))

    async def _hold(
        self, call: ClientCall, state: RequestState | None, pending: Pending
    ) -> Round:
        """Wait for a person, and try again; the client is kept connected."""
        clock = asyncio.get_running_loop().time
        began = clock()
        until = began + self._hold_s
        ended = Round(pending)
        while isinstance(ended.result, Pending) and (left := until - clock()) > 0:
            with cancelled_on_disconnect(call.http):
                is_decided = await self._gate.wait_for_decision(
                    ended.result, min(left, KEEPALIVE_S)
                )
                if not is_decided and left > KEEPALIVE_S:
                    await call.reply.keep_alive()
            if is_decided:
                ended = await self._attempt(call, state, held_s=clock() - began)
        return ended

    def _link(
        self, call: ClientCall, state: RequestState | None, pending: Pending
    ) -> dict[str, Any] | None:
        """Return a link for the client's user, once, if the client can open one."""
        elicitation = call.capabilities.get("elicitation")
        if (
            self._approval_url is None
            or state is not None
            or not isinstance(elicitation, dict)
            or "url" not in elicitation
        ):
            return None
        url = self._approval_url.replace(
            "{approval_id}", str(pending.approval_id)
        ).replace("{agent_id}", str(pending.agent_id))
        return link_to_approval(pending.message, url)


def _not_admitted(decision: Refused | Pending) -> dict[str, Any]:
    """Return the tool error that says why.

    :raises UnknownToolError: the agent must not learn more than that
    """
    if isinstance(decision, Refused) and decision.reason.hides_the_tool:
        raise UnknownToolError
    return failed(decision.message)
