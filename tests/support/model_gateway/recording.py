"""A model call on record that no provider has answered."""

from datetime import UTC, datetime
from time import monotonic
from uuid import UUID

from aiohttp import web

from service.agent_tokens.caller import Caller
from service.http.app_keys import EVENT_LOG, KEY_RING, VAULT
from service.model_gateway.calls.call_record import (
    AttemptOutcome,
    CallOutcome,
    CallRecord,
)
from service.model_gateway.calls.deciding import CallRequest
from service.model_gateway.calls.figures import Figures
from service.model_gateway.calls.gate import ModelGate
from service.model_gateway.dialects import Dialect
from service.price_catalog.usage import ModelCallUsage
from tests.support.operations.walk import REQUEST_ID

MODEL = "claude-sonnet-5"


async def record_call(app: web.Application, agent_id: UUID, token_id: UUID) -> str:
    """Record a call of an agent that may make it; return its id."""
    gate = ModelGate(app[EVENT_LOG], app[KEY_RING], app[VAULT])
    dialect = Dialect.ANTHROPIC_MESSAGES
    call = CallRequest(
        caller=Caller(agent_id=agent_id, token_id=token_id, user_id=None),
        dialect=dialect,
        model=MODEL,
        request_id=REQUEST_ID,
    )
    record = CallRecord(
        caller=call.caller,
        dialect=dialect,
        started_at=datetime.now(UTC),
        began=monotonic(),
        asked_for=MODEL,
        session_id="chat-1",
        request_bytes=4096,
    )
    (target, *_) = (await gate.plan(call)).plan.targets
    secret = await gate.secret(target)
    admission = await gate.admit(call, record, target, secret)
    assert admission is not None
    record.attempt(target, AttemptOutcome.ANSWERED, since=monotonic(), status=200)
    record.outcome, record.status = CallOutcome.OK, 200
    record.first_byte_ms, record.duration_ms = 420, 1900
    record.answer_bytes = 2048
    record.figures = Figures(
        usage=ModelCallUsage(
            input_tokens=1200, output_tokens=80, cache_read_tokens=1000
        ),
        model="swift-1",
        response_id="msg_01Abc",
    )
    gate.recorder.ended(record)
    await gate.recorder.flush()
    return str(record.call_id)
