"""Answers agents' clients as the provider of a model would."""

from contextlib import ExitStack
from datetime import UTC, datetime
from time import monotonic
from typing import Final, NoReturn
from uuid import UUID

from aiohttp import web

from service.agent_tokens.caller import Caller
from service.errors import MalformedRequestError, NotFoundError
from service.http.body import read_upload, uploading
from service.http.disconnect import is_connected
from service.http.envelope import JSON, to_json
from service.http.telemetry import REQUEST_ID, TRACEPARENT
from service.http.trace_context import TraceContext
from service.model_gateway.calls.call_record import CallRecord, recordable
from service.model_gateway.calls.deciding import CallRequest, ModelNotFoundError
from service.model_gateway.calls.gate import ModelGate, presented_token
from service.model_gateway.calls.listing import CallableModel
from service.model_gateway.calls.sessions import session_of
from service.model_gateway.endpoint.client_call import ClientCall
from service.model_gateway.endpoint.forwarding import Forwarder
from service.model_gateway.endpoint.limits import BODY_BYTES_MAX, CallLimits
from service.model_gateway.protocol.body import CallBody, parse_call
from service.model_gateway.protocol.endpoints import API_OF, Api, Endpoint
from service.model_gateway.protocol.headers import to_provider
from service.model_gateway.protocol.models import model_document, models_document
from service.pacing import INLINE_BYTES_MAX, in_thread

# As long as of most: prompts with images are large.
UPLOAD_TIMES: Final = 4
SESSION_CHARACTERS_MAX: Final = 128


class ModelServer:
    """Answers the model calls of agents."""

    def __init__(self, gate: ModelGate, forwarder: Forwarder) -> None:
        self._gate = gate
        self._forwarder = forwarder
        self._limits = CallLimits()

    async def answer(
        self, request: web.Request, agent_id: UUID, endpoint: Endpoint
    ) -> web.StreamResponse:
        """Forward a call.

        :raises ServiceError: it is refused, or there is no answer
        :raises ConnectionError: the client has left, or doesn't read
        """
        caller = await self._gate.caller(request, agent_id)
        record = CallRecord(
            caller=caller,
            dialect=endpoint.dialect,
            started_at=datetime.now(UTC),
            began=monotonic(),
            counts_only=endpoint.counts_only,
            trace_id=TraceContext.of({}, request.headers).trace_id,
        )
        try:
            return await self._answer(request, endpoint, record)
        except BaseException as error:
            record.fail(error, has_client=is_connected(request))
            raise
        finally:
            self._gate.ended(record)

    async def _answer(
        self, request: web.Request, endpoint: Endpoint, record: CallRecord
    ) -> web.StreamResponse:
        caller = record.caller
        if presented_token(request) in request.rel_url.raw_query_string:
            raise MalformedRequestError(
                "the token must not be in the query: it would reach the provider"
            )
        with self._limits.counted(caller.agent_id), ExitStack() as hold:
            size = request.content_length
            hold.enter_context(self._limits.held(caller.agent_id, size))
            body = await _read(request, endpoint)
            session = session_of(request.headers, body.members)
            record.asked_for = recordable(body.model)
            record.session_id = recordable(session, SESSION_CHARACTERS_MAX)
            record.request_bytes = len(body.content)
            asked = CallRequest(
                caller=caller,
                dialect=endpoint.dialect,
                model=body.model,
                request_id=request[REQUEST_ID],
                traceparent=request.get(TRACEPARENT),
            )
            routed = await self._gate.plan(asked)
            record.planned = routed.mode
            call = ClientCall(
                http=request,
                endpoint=endpoint,
                request=asked,
                record=record,
                session=session,
                headers=to_provider(request.headers, presented_token(request)),
                body=body,
                hold=hold,
            )
            return await self._forwarder.answer(call, routed.plan)

    async def models(
        self, request: web.Request, agent_id: UUID, api: Api
    ) -> web.Response:
        """Return all models that the agent may call by an API.

        :raises ServiceError: it is refused
        """
        caller = await self._gate.caller(request, agent_id)
        found = await self._models(caller, api)
        return _json(models_document(api, found))

    async def model(
        self, request: web.Request, agent_id: UUID, api: Api, name: str
    ) -> web.Response:
        """Return one of the models that the agent may call by an API.

        :raises ServiceError: it is refused, or there is no such model
        """
        caller = await self._gate.caller(request, agent_id)
        for each in await self._models(caller, api):
            if each.name == name:
                return _json(model_document(api, each))
        raise ModelNotFoundError

    async def _models(self, caller: Caller, api: Api) -> list[CallableModel]:
        dialects = {dialect for dialect, of in API_OF.items() if of is api}
        return list(await self._gate.models(caller, dialects))

    async def refuse_path(self, request: web.Request, agent_id: UUID) -> NoReturn:
        """Refuse what isn't forwarded.

        :raises ServiceError: always
        """
        await self._gate.caller(request, agent_id)
        raise NotFoundError(
            "the model gateway has no such path: it forwards POST chat/completions, "
            "responses, embeddings and messages, and lists models, all below /v1",
            code="no_such_path",
        )


async def _read(request: web.Request, endpoint: Endpoint) -> CallBody:
    async with uploading(request, times=UPLOAD_TIMES):
        content = await read_upload(request, BODY_BYTES_MAX)
    if len(content) <= INLINE_BYTES_MAX:
        return parse_call(content, endpoint.dialect)
    return await in_thread(parse_call, content, endpoint.dialect)


def _json(document: object) -> web.Response:
    return web.Response(body=to_json(document), content_type=JSON)
