"""Ask one target: connect, decide, send once, and hold the answer's beginning."""

import asyncio
from http import HTTPStatus
from typing import Final

from multidict import CIMultiDict

from service.errors import RETRY_LATER, ServiceError, UnavailableError
from service.model_gateway.calls.call_record import AttemptOutcome
from service.model_gateway.calls.gate import ModelGate
from service.model_gateway.endpoint.answers import (
    Answer,
    NoAnswerError,
    NotAskedError,
    answering,
    held_answer,
)
from service.model_gateway.endpoint.client_call import ClientCall
from service.model_gateway.presets.terms import PresetTerms
from service.model_gateway.routing.plan import PlannedTarget
from service.secrets.sent import NamedSecret
from service.upstream_http.connection import Connection
from service.upstream_http.connections import Connections
from service.upstream_http.errors import ConnectError, ConnectionEndedError
from service.upstream_http.response import Response

# A connection that was kept may end just when it is to be used.
CONNECTIONS_MAX: Final = 3
# A secret may be overwritten while it is opened.
OPENINGS_MAX: Final = 3
# A shorter one may stand anywhere by chance.
SECRET_BYTES_MIN: Final = 8
CLOSES: Final = "the provider closes its connections"
CHANGED: Final = "the target has changed meanwhile"
NO_CREDENTIAL: Final = "the provider's credential can't be opened"
REDIRECTED: Final = "the provider redirects; its connection needs the final base URL"
REPEATED_CREDENTIAL: Final = "the provider's answer repeats its credential"


class Asking:
    """Sends calls to targets, each admitted when nothing but it is left to send."""

    def __init__(self, gate: ModelGate, connections: Connections) -> None:
        self._gate = gate
        self._connections = connections

    async def ask(
        self, call: ClientCall, target: PlannedTarget, terms: PresetTerms
    ) -> Answer:
        """Return the answer of a target, of which the client hasn't got anything.

        :raises NoAnswerError: there is none
        :raises ServiceError: the call may not be made any more
        """
        first_byte_s = terms["first_byte_timeout_s"]
        call.is_deciding = False
        response: Response | None = None
        try:
            try:
                async with asyncio.timeout(first_byte_s):
                    response, credential = await self._sent(call, target)
                    with answering():
                        first = await response.read()
            except TimeoutError:
                if call.is_deciding:
                    raise _undecided(first_byte_s) from None
                late = f"the provider's answer didn't begin within {first_byte_s} s"
                raise NoAnswerError(late, AttemptOutcome.LATE) from None
            response.allow_silence(terms["idle_timeout_s"])
            answer = await held_answer(response, first)
            _refuse_unusable(answer, credential)
        except BaseException:
            if response is not None:
                response.close()
            raise
        return answer

    async def _sent(
        self, call: ClientCall, target: PlannedTarget
    ) -> tuple[Response, str | None]:
        """Send a call; return its answer's head, and the credential that it had."""
        url = _url(target.base_url, call)
        for _ in range(CONNECTIONS_MAX):
            try:
                kept = self._connections.kept(url)
                connection = kept or await self._connections.connect(url)
            except ConnectError as error:
                unreachable = f"the provider can't be reached: {error.detail}"
                raise NoAnswerError(unreachable, AttemptOutcome.UNREACHABLE) from None
            # Another call may have reserved it by the time that this one is answered.
            reservation = connection.reservation
            try:
                return await self._admitted(call, target, connection, url)
            except ConnectionEndedError:
                continue
            finally:
                connection.release(reservation)
        raise NoAnswerError(CLOSES, AttemptOutcome.CUT)

    async def _admitted(
        self, call: ClientCall, target: PlannedTarget, connection: Connection, url: str
    ) -> tuple[Response, str | None]:
        """Send a call that is admitted, on a connection that stands.

        The credential is opened before: nothing is waited for between the decision and
        the sending, so that nothing is sent that was taken back.
        """
        call.is_deciding = True
        secret = await self._gate.secret(target)
        for _ in range(OPENINGS_MAX):
            value = None if secret is None else await self._opened(secret)
            admission = await self._gate.admit(
                call.request, call.record, target, secret
            )
            if admission is None:
                raise NotAskedError(CHANGED, AttemptOutcome.CHANGED)
            if admission.secret == secret:
                break
            secret = admission.secret
        else:
            raise NotAskedError(CHANGED, AttemptOutcome.CHANGED)
        call.is_deciding = False
        headers = CIMultiDict(call.headers)
        if secret is not None and value is not None:
            headers[secret.header] = value
        body = call.body.with_model(target.target["model"])
        with answering():
            response = await self._connections.send(connection, url, headers, body)
        return response, value

    async def _opened(self, secret: NamedSecret) -> str:
        """Return the value of the header that sends a secret.

        :raises UnavailableError: it can't be opened now
        """
        try:
            value = await self._gate.credential(secret).reveal()
        except UnavailableError:
            raise
        except ServiceError:
            raise NotAskedError(
                NO_CREDENTIAL, AttemptOutcome.CREDENTIAL_UNUSABLE
            ) from None
        return value.get_secret_value()


def _undecided(time_s: int) -> UnavailableError:
    """Return the refusal of a call that has waited for the log, not for a provider."""
    return UnavailableError(
        f"the call wasn't decided on within {time_s} s; call again",
        code="overloaded",
        headers=RETRY_LATER,
    )


def _url(base_url: str, call: ClientCall) -> str:
    """Return where a call goes: what a client adds stands behind what is configured."""
    base, _, query = base_url.partition("?")
    given = call.http.rel_url.raw_query_string
    queries = "&".join(filter(None, (query, given)))
    return f"{base}{call.endpoint.path}{'?' if queries else ''}{queries}"


def _refuse_unusable(answer: Answer, credential: str | None) -> None:
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        # A client would follow it with the agent's token.
        raise NoAnswerError(REDIRECTED, AttemptOutcome.REDIRECTED)
    secret = (credential or "").rpartition(" ")[2].encode()
    if len(secret) < SECRET_BYTES_MIN:
        return
    fields = answer.response.fields
    if secret in answer.held or any(secret in value for _, value in fields):
        raise NoAnswerError(REPEATED_CREDENTIAL, AttemptOutcome.CREDENTIAL_REPEATED)
