"""Log events of Claude Code and Codex become the turns that their spans would."""

from datetime import timedelta
from typing import Any

from service.resources import Resources
from service.sessions.otlp.logs.expiry import delete_old_events
from tests.support.callers import Caller, Callers
from tests.support.sessions.otlp.log_events import (
    LOGS,
    SESSION,
    claude,
    claude_call,
    codex,
    codex_call,
    logs_export,
    report_logs,
    send_logs,
)
from tests.support.sessions.otlp.spans import (
    Exported,
    export,
    send,
    session,
    span,
)
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, register_agent

MILLION = 1_000_000


# The scope of Claude Code's spans.
SPANS = "com.anthropic.claude_code.tracing"


async def turns(reader: Caller, *sent: Exported) -> Any:
    return (await session(reader, SESSION, sent))["turns"]


async def add_anthropic(root: Caller) -> None:
    reply = await root.post(
        "/api/llm-router/providers", {"key": "anthropic", "display_name": "A"}
    )
    assert reply.status == 201, reply.data


async def test_events_of_a_prompt_become_a_turn(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given
    await add_anthropic(root)
    await set_price(root, "claude-test", 3, output=15, provider="anthropic")

    # when
    sent = await report_logs(
        recorder,
        claude("plugin_loaded", 0, prompt__id=None),
        claude("user_prompt", 0, prompt="What is due?", prompt_length="12"),
        claude_call(2, 100_000, 0, cost_usd=0.9),
        claude("tool_result", 3, tool_name="Bash"),
        claude_call(5, 200_000, 0, cache_read_tokens=700_000),
        claude("assistant_response", 6, response="Two are due."),
    )

    # then
    assert (sent.status, sent.rejected) == (200, 0)
    (turn,) = await turns(ada, sent)
    assert (turn["input"], turn["output"]) == ("What is due?", "Two are due.")
    assert (turn["provider"], turn["model"]) == ("anthropic", "claude-test")
    assert turn["token_usage"]["prompt"] == MILLION
    assert turn["token_usage"]["cache_read"] == 700_000
    assert turn["cost"] == 3
    assert turn["latency_ms"] == 6_000
    assert turn["num_tool_calls"] is None


async def test_later_events_of_a_prompt_amend_its_turn(
    recorder: Recorder, ada: Caller
) -> None:
    first = await report_logs(
        recorder, claude("user_prompt", 0, prompt="q"), claude_call(2, 10, 1)
    )
    again = await report_logs(
        recorder, claude("user_prompt", 0, prompt="q"), claude_call(2, 10, 1)
    )
    late = await report_logs(
        recorder, claude_call(7, 20, 2), claude("assistant_response", 8, response="a")
    )

    (turn,) = await turns(ada, first, late)
    assert again.status == 200
    assert turn["token_usage"]["prompt"] == 30
    assert (turn["latency_ms"], turn["output"]) == (8_000, "a")


async def test_a_call_whose_prompt_never_came_is_a_turn(
    recorder: Recorder, ada: Caller
) -> None:
    sent = await report_logs(recorder, claude_call(2, 10, 1), claude_call(3, 20, 1))
    other = await report_logs(recorder, claude_call(9, 40, 1, prompt__id=None))

    shown = await turns(ada, sent, other)

    assert [each["token_usage"]["prompt"] for each in shown] == [30, 40]
    assert [each["input"] for each in shown] == [None, None]


async def test_what_an_inner_agent_answers_last_is_not_the_turns_output(
    recorder: Recorder, ada: Caller
) -> None:
    inner: Any = {"query_source": "agent:builtin:general-purpose"}

    sent = await report_logs(
        recorder,
        claude("user_prompt", 0, prompt="q"),
        claude_call(2, 10, 1),
        claude_call(4, 20, 1, **inner),
        claude("assistant_response", 5, response="the answer"),
        claude("assistant_response", 6, response="found it", **inner),
    )

    (turn,) = await turns(ada, sent)
    assert turn["output"] == "the answer"
    assert turn["token_usage"]["prompt"] == 30


async def test_what_the_program_asks_beside_the_turn_costs_and_is_not_its_output(
    recorder: Recorder, ada: Caller
) -> None:
    own: Any = {"query_source": "repl_main_thread:outputStyle:default"}
    beside: Any = {"query_source": "prompt_suggestion"}

    sent = await report_logs(
        recorder,
        claude("user_prompt", 0, prompt="q"),
        claude_call(2, 10, 1, **own),
        claude("assistant_response", 3, response="the answer", **own),
        claude_call(60, 20, 1, **beside),
        claude("assistant_response", 61, response="run the tests", **beside),
        claude("api_error", 70, error="overloaded", **beside),
    )

    (turn,) = await turns(ada, sent)
    assert (turn["output"], turn["is_error"]) == ("the answer", False)
    assert turn["token_usage"]["prompt"] == 30
    assert turn["latency_ms"] == 3_000


async def test_texts_are_what_somebody_wrote(recorder: Recorder, ada: Caller) -> None:
    sent = await report_logs(
        recorder,
        claude("user_prompt", 0, prompt='{"prompt": "x", "n": 1}'),
        claude_call(2, 10, 1),
        claude("assistant_response", 3, response="Let me look."),
        claude("assistant_response", 5, response='{"due": 2}'),
    )

    (turn,) = await turns(ada, sent)
    assert turn["input"] == '{"prompt": "x", "n": 1}'
    assert turn["output"] == '{"due": 2}'


async def test_two_calls_of_one_moment_count_twice(
    recorder: Recorder, ada: Caller
) -> None:
    # given: two processes of one session
    calls = [
        claude_call(2, 10, 1, request_id="req-1"),
        claude_call(2, 20, 1, request_id="req-2"),
    ]

    sent = await report_logs(recorder, claude("user_prompt", 0), *calls)
    again = await report_logs(recorder, *calls)

    (turn,) = await turns(ada, sent)
    assert again.status == 200
    assert turn["token_usage"]["prompt"] == 30


async def test_a_call_whose_counts_cannot_be_read_has_an_unknown_cost(
    recorder: Recorder, ada: Caller
) -> None:
    odd: Any = {"input_tokens": "many", "output_tokens": -5, "cost_usd": 0.5}

    sent = await report_logs(
        recorder, claude("user_prompt", 0), claude_call(2, 10, 1, **odd)
    )

    (turn,) = await turns(ada, sent)
    assert (turn["cost"], turn["reported_cost"]) == (None, 0.5)
    assert turn["unpriced"] is not None


async def test_an_event_that_names_no_session_is_refused(recorder: Recorder) -> None:
    nameless: Any = {"session__id": None}

    refused = await report_logs(
        recorder,
        claude("user_prompt", 0, **nameless),
        claude_call(2, 10, 1, prompt__id=None, **nameless),
    )
    partly = await report_logs(
        recorder,
        claude("user_prompt", 0),
        claude_call(2, 10, 1, prompt__id=None, **nameless),
    )

    reason = "an event must name its session, or be inside of a trace"
    assert refused.status == 400
    assert reason.encode() in refused.body
    assert (partly.rejected, partly.reason) == (1, reason)


async def test_an_event_of_the_future_harms_no_other_of_its_turn(
    recorder: Recorder, ada: Caller
) -> None:
    ahead = claude_call(100 * 365 * 86_400, 10, 1)

    first = await report_logs(recorder, claude("user_prompt", 0), ahead)
    later = await report_logs(recorder, claude_call(2, 20, 1))

    assert (first.status, first.rejected) == (200, 1)
    assert first.reason.startswith("an event is in the future")
    (turn,) = await turns(ada, first, later)
    assert turn["token_usage"]["prompt"] == 20


async def test_the_order_of_resources_does_not_matter(
    recorder: Recorder, ada: Caller
) -> None:
    body = logs_export(recorder.agent_id, codex_call(2, 10, 1))
    body.MergeFrom(logs_export(recorder.agent_id, codex("user_prompt", 0, prompt="q")))

    sent = await send(recorder.caller, body.SerializeToString(), to=LOGS)

    (turn,) = await turns(ada, sent)
    assert (turn["input"], turn["token_usage"]["prompt"]) == ("q", 10)


async def test_ids_of_zeros_are_none(recorder: Recorder, ada: Caller) -> None:
    events = [
        claude("user_prompt", 0, prompt="q"),
        claude_call(2, 10, 1),
        claude("assistant_response", 3, response="a"),
    ]
    for event in events:
        event.trace_id, event.span_id = bytes(16), bytes(8)

    sent = await report_logs(recorder, *events)

    (turn,) = await turns(ada, sent)
    assert (turn["input"], turn["output"]) == ("q", "a")


async def test_prompts_of_refused_events_are_not_kept(
    recorder: Recorder, resources: Resources
) -> None:
    invalid = codex("user_prompt", 0, prompt="q", conversation__id="\x00bad")

    sent = await report_logs(recorder, invalid)

    assert sent.status == 400
    async with resources.pool.connection() as db:
        cursor = await db.execute("SELECT count(*) FROM events.reported_prompt")
        assert await cursor.fetchone() == (0,)


async def test_a_prompt_whose_request_failed_is_a_turn_with_an_error(
    recorder: Recorder, ada: Caller
) -> None:
    failed = claude("api_error", 9, model="claude-test", error="overloaded")
    inner: Any = {"query_source": "agent:builtin:general-purpose"}
    other: Any = {"prompt__id": "prompt-2"}

    sent = await report_logs(
        recorder,
        claude("user_prompt", 0, prompt="q"),
        failed,
        claude("user_prompt", 20, prompt="r", **other),
        claude("api_error", 21, error="overloaded", **inner, **other),
        claude_call(22, 5, 1, **other),
    )

    shown = await turns(ada, sent)
    assert [each["is_error"] for each in shown] == [True, False]
    assert (shown[0]["cost"], shown[0]["unpriced"]) == (None, None)
    assert shown[0]["latency_ms"] == 9_000


async def test_texts_that_the_program_keeps_to_itself_are_none(
    recorder: Recorder, ada: Caller
) -> None:
    sent = await report_logs(
        recorder,
        claude("user_prompt", 0, prompt="<REDACTED>"),
        claude_call(2, 10, 1),
        claude("assistant_response", 3, response="<REDACTED>"),
    )

    (turn,) = await turns(ada, sent)
    assert (turn["input"], turn["output"]) == (None, None)


async def test_the_speed_of_a_call_is_a_condition_of_its_price(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given: fast calls cost ten times as much
    await add_anthropic(root)
    rates = {name: {"price": 1} for name in ("input_tokens", "output_tokens")}
    fast = {name: {"price": 10} for name in ("input_tokens", "output_tokens")}
    priced = await root.post(
        "/api/llm-router/prices",
        {
            "provider": "anthropic",
            "model": "claude-test",
            "currency": "USD",
            "input_price_per_1m": 1,
            "output_price_per_1m": 1,
            "effective_from": "2026-01-01T00:00:00Z",
            "structure": {
                "rates": rates,
                "windows": [],
                "variants": [{"when": {"speed": "fast"}, "hours": [], "rates": fast}],
            },
        },
    )
    assert priced.status == 201, priced.data

    # when
    sent = await report_logs(
        recorder,
        claude("user_prompt", 0),
        claude_call(2, MILLION, 0, speed="normal"),
        claude_call(4, MILLION, 0, speed="fast"),
    )

    # then
    (turn,) = await turns(ada, sent)
    assert turn["cost"] == 11


async def test_spans_of_the_same_call_count_once(
    recorder: Recorder, ada: Caller
) -> None:
    # given: log events inside of a trace, of which the spans come, too
    trace: Any = {"trace": 7}
    root_span = span(70, **trace, start=-0.1, took=9, session__id=SESSION)
    call: Any = {
        "span__type": "llm_request",
        "gen_ai__request__model": "claude-test",
        "input_tokens": 100,
        "output_tokens": 10,
    }
    inner = span(71, 70, **trace, start=1, took=1.001, **call)
    events = [claude("user_prompt", 0, prompt="q"), claude_call(2, 100, 10)]
    for event in events:
        event.trace_id, event.span_id = root_span.trace_id, root_span.span_id

    # when
    logged = await report_logs(recorder, *events)
    (before,) = await turns(ada, logged)
    told = export(recorder.agent_id, root_span, inner)
    told.resource_spans[0].scope_spans[0].scope.name = SPANS
    sent = await send(recorder.caller, told)

    # then
    (turn,) = await turns(ada, logged, sent)
    assert turn["turn_id"] == before["turn_id"] == root_span.trace_id.hex()
    assert turn["token_usage"]["prompt"] == 100
    assert turn["input"] == "q"
    assert turn["latency_ms"] == 9_000


async def test_a_call_of_codex_is_in_the_turn_of_the_prompt_before_it(
    recorder: Recorder, ada: Caller
) -> None:
    sent = [
        await report_logs(
            recorder,
            codex("user_prompt", 0, prompt="first"),
            codex("sse_event", 1, event__kind="response.created"),
            codex_call(2, 10, 1),
        ),
        await report_logs(recorder, codex_call(3, 20, 2, cached_token_count="15")),
        # Of one request, the order doesn't matter.
        await report_logs(
            recorder,
            codex_call(6, 80, 8),
            codex("user_prompt", 5, prompt="second"),
            codex_call(4, 40, 4),
        ),
    ]

    shown = await turns(ada, *sent)

    assert [each["input"] for each in shown] == ["first", "second"]
    assert [each["token_usage"]["prompt"] for each in shown] == [70, 80]
    assert shown[0]["token_usage"]["cache_read"] == 15
    assert [each["latency_ms"] for each in shown] == [4_000, 1_000]
    assert shown[0]["model"] == "gpt-test"


async def test_a_conversation_of_codex_that_began_before_has_a_turn_for_each_call(
    recorder: Recorder, ada: Caller
) -> None:
    sent = await report_logs(recorder, codex_call(2, 10, 1), codex_call(3, 20, 1))
    repeated = await report_logs(recorder, codex_call(3, 20, 1))

    shown = await turns(ada, sent)

    assert repeated.status == 200
    assert [each["token_usage"]["prompt"] for each in shown] == [10, 20]


async def test_prompts_are_kept_for_a_while(
    recorder: Recorder, ada: Caller, resources: Resources
) -> None:
    first = await report_logs(recorder, codex("user_prompt", 0, prompt="kept"))
    await delete_old_events(resources.pool)
    known = await report_logs(recorder, codex_call(2, 10, 1))
    await delete_old_events(resources.pool, kept_for=timedelta(0))
    late = await report_logs(recorder, codex_call(3, 20, 1))

    shown = await turns(ada, first, known, late)

    assert [each["input"] for each in shown] == ["kept", None]
    assert [each["token_usage"]["prompt"] for each in shown] == [10, 20]


async def test_conversations_and_agents_are_told_apart(
    recorder: Recorder, ada: Caller, callers: Callers
) -> None:
    # given another agent that names the same conversation, and another conversation
    runtime = await callers.user("second", "runtime")
    other = Recorder(runtime, await register_agent(ada))
    elsewhere: Any = {"conversation__id": "chat-2"}
    sent = [
        await report_logs(recorder, codex("user_prompt", 0, prompt="mine")),
        await report_logs(recorder, codex("user_prompt", 2, prompt="x", **elsewhere)),
    ]
    refused = await report_logs(other, codex("user_prompt", 1, prompt="of the other"))
    assert refused.status == 400

    # when
    last = await report_logs(recorder, codex_call(3, 10, 1))

    # then
    (turn,) = await turns(ada, *sent, last)
    assert (turn["input"], turn["token_usage"]["prompt"]) == ("mine", 10)


async def test_whose_events_are_taken(
    recorder: Recorder, ada: Caller, callers: Callers
) -> None:
    stranger = await callers.user("stranger")
    events = codex("user_prompt", 0, prompt="q"), codex_call(1, 5, 1)

    refused = await send_logs(stranger, recorder.agent_id, *events)
    nameless = await send_logs(recorder.caller, None, *events)
    irrelevant = await send_logs(recorder.caller, None, codex("startup_phase", 0))

    assert (refused.status, nameless.status) == (403, 400)
    assert (irrelevant.status, irrelevant.body) == (200, b"")
    # Nor has the refused prompt been kept.
    sent = await report_logs(recorder, codex_call(2, 10, 1))
    (turn,) = await turns(ada, sent)
    assert turn["input"] is None


async def test_an_event_without_a_time_is_rejected(recorder: Recorder) -> None:
    timeless = claude_call(2, 10, 1)
    timeless.time_unix_nano = timeless.observed_time_unix_nano = 0

    sent = await report_logs(recorder, claude("user_prompt", 0), timeless)

    assert (sent.status, sent.rejected) == (200, 1)
