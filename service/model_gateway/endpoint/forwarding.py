"""Forward a call, and pass the answer on."""

import asyncio
import logging
from typing import Final

from aiohttp import web

from service.errors import UnavailableError
from service.http.disconnect import cancelled_on_disconnect, is_connected
from service.model_gateway.calls.call_record import NO_ANSWER, CallOutcome
from service.model_gateway.calls.choosing import Stays, chosen_by, in_order
from service.model_gateway.calls.sessions import conversation_of
from service.model_gateway.endpoint.answers import Answer, NoAnswerError
from service.model_gateway.endpoint.attempts import Answered, Attempts
from service.model_gateway.endpoint.client_call import ClientCall
from service.model_gateway.endpoint.passed_on import PassedOn
from service.model_gateway.protocol.body import estimated_tokens
from service.model_gateway.protocol.streams import stream_of
from service.model_gateway.routing.plan import Plan
from service.pacing import INLINE_BYTES_MAX, in_thread
from service.upstream_http.event_scanner import Room

STOPPING: Final = "the service is stopping; call again"

logger = logging.getLogger(__name__)


class Forwarder:
    """Forwards calls; to one target at a time, and to none after the first byte."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts
        self._stays = Stays()
        self._room = Room()

    async def answer(self, call: ClientCall, plan: Plan) -> web.StreamResponse:
        """Return the response, which has been sent, or cut off.

        :raises ServiceError: there is no answer
        :raises ConnectionError: the client has left, or doesn't read
        """
        passed: PassedOn | None = None
        total_s = plan.preset.terms["total_timeout_s"]
        try:
            with cancelled_on_disconnect(call.http):
                async with asyncio.timeout(total_s):
                    answered, session = await self._answered(call, plan)
                    passed = self._passed_on(call, answered.answer)
                    await self._run(passed, answered, plan, session)
        except NoAnswerError as error:
            return await _ended(call, passed, str(error), CallOutcome.CUT)
        except TimeoutError:
            late = f"the call took more than {total_s} s"
            return await _ended(call, passed, late, CallOutcome.TIMEOUT)
        except asyncio.CancelledError:
            if passed is not None:
                passed.fail_at_once(STOPPING)
            raise
        finally:
            if passed is not None:
                passed.note(call.record)
        return passed.response

    async def _answered(
        self, call: ClientCall, plan: Plan
    ) -> tuple[Answered, str | None]:
        """Return an answer that has begun, and the session that stays with it."""
        members = call.body.members
        named = members.get("previous_response_id")
        previous = named if isinstance(named, str) else None
        session = call.session or conversation_of(members)
        stays_with = self._stays.target(plan, session)
        continues_with = self._stays.target(plan, previous)
        tokens = await _input_tokens(call, plan)
        targets = in_order(
            plan,
            session=session,
            stays_with=stays_with,
            continues_with=continues_with,
            input_tokens=tokens,
        )
        call.record.chosen_by = chosen_by(
            targets[0], stays_with, continues_with, tokens
        )
        answered = await self._attempts.answered(call, targets, plan.preset.terms)
        call.record.first_byte_ms = call.record.elapsed_ms()
        call.drop_body()
        return answered, session

    def _passed_on(self, call: ClientCall, answer: Answer) -> PassedOn:
        dialect = call.endpoint.dialect
        stream = None
        if answer.is_stream:
            stream = stream_of(dialect, withholds_usage=call.body.withholds_usage)
        return PassedOn(call.http, dialect, answer, stream, self._room)

    async def _run(
        self, passed: PassedOn, answered: Answered, plan: Plan, session: str | None
    ) -> None:
        """Pass an answer on; how it ends says how its target is."""
        trial = answered.trial
        try:
            await passed.run()
        except NoAnswerError:
            # A client that has left looks the same.
            if trial is not None and passed.has_client:
                trial.failed()
            raise
        finally:
            answered.answer.response.close()
            # Some clients leave when the last event has come.
            if trial is not None and passed.has_ended:
                self._stays.keep(plan, answered.target, session, passed.response_id)
                if passed.has_failed:
                    trial.failed()
                else:
                    trial.succeeded()


async def _input_tokens(call: ClientCall, plan: Plan) -> int | None:
    """Return about how long the prompt is, where a target's window is known."""
    if all(each.target["context_window"] is None for each in plan.targets):
        return None
    content = call.body.content
    if len(content) <= INLINE_BYTES_MAX:
        return estimated_tokens(content)
    return await in_thread(estimated_tokens, content)


async def _ended(
    call: ClientCall, passed: PassedOn | None, message: str, outcome: CallOutcome
) -> web.StreamResponse:
    """Return the response of a call that went wrong, which may have begun before.

    :raises UnavailableError: it hasn't
    :raises ConnectionError: the client has left, or doesn't read
    """
    # Of a client that has left, the connection to the provider is closed, too.
    if is_connected(call.http):
        call.record.outcome = outcome
    if passed is None or not passed.has_begun:
        raise UnavailableError(message, code=NO_ANSWER) from None
    logger.warning(
        "a model call's answer was not passed on whole: %s",
        message,
        extra={"request_id": call.request.request_id},
    )
    await passed.fail(message)
    return passed.response
