"""A call whose answer names no model of the catalog is priced by what it asked for."""

from typing import Any

from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import (
    Exported,
    llm,
    report,
    session,
    span,
)
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, at

MILLION = 1_000_000


def call(number: int, **asked: Any) -> Any:
    return llm(number, 1, MILLION, 0, llm__model_name="default", **asked)


async def send_turn(recorder: Recorder, *calls: Any) -> Exported:
    return await report(recorder, *calls, span(1, session__id="chat-1", took=9))


async def test_each_call_is_priced_and_repriced_by_the_model_that_it_asked_for(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "small", 1)
    sent = await send_turn(
        recorder,
        call(2, gen_ai__request__model="small", start=1),
        call(3, llm__invocation_parameters='{"model": "large"}', start=3),
    )
    [before] = (await session(ada, "chat-1", [sent]))["turns"]
    await set_price(root, "large", 10)

    repriced = await root.post(
        "/api/llm-router/reprice",
        {"from_time": at(0), "until_time": at(60), "dry_run": False},
        X_Min_Position=sent.position,
    )

    assert (before["cost"], before["unpriced"]) == (None, "no_such_model")
    assert repriced.data["turns_changed"] == 1
    reply = await ada.get(
        "/api/observability/session/chat-1", X_Min_Position=str(repriced.position)
    )
    [after] = reply.data["turns"]
    assert (after["cost"], after["unpriced"], after["priced_as"]) == (11, None, None)


async def test_a_call_without_a_model_takes_no_price_from_another_call(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "small", 1)

    sent = await send_turn(
        recorder, call(2, gen_ai__request__model="small", start=1), call(3, start=3)
    )

    [found] = (await session(ada, "chat-1", [sent]))["turns"]
    assert (found["cost"], found["unpriced"]) == (None, "no_such_model")
