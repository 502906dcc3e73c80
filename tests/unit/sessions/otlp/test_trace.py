"""A turn follows from the set of a trace's spans: not from how they came."""

from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from service.sessions.otlp.conventions import reported_span
from service.sessions.otlp.span import KeptEntry, kept_span
from service.sessions.otlp.trace import TraceTurn, turn_of
from tests.support.sessions.otlp.one_trace import OF_A_TRACE
from tests.support.sessions.otlp.spans import IS_REMOTE, NOON, llm, span


def turn(*spans: Any) -> TraceTurn | None:
    """Fold spans, without what is done about their texts."""
    kept = []
    for each in map(reported_span, spans):
        entry: Any = each.entry and KeptEntry(
            is_root=each.entry.is_root,
            ended_at=each.entry.ended_at.isoformat(),
            user_id=None,
            is_error=each.entry.is_error,
            owner="",
            sealed_input=each.entry.texts.input,
            sealed_output=each.entry.texts.output,
            sealed_error=each.entry.texts.error,
        )
        kept.append(kept_span(each, entry))
    return turn_of("1", kept)


def spent(*spans: Any) -> dict[str | None, tuple[int | None, int | None]]:
    """Return prompt and completion tokens by model."""
    found = turn(*spans)
    assert found is not None
    return {
        share.model: (share.tokens.prompt, share.tokens.completion)
        for share in found.shares
    }


def test_a_turn_needs_the_root_of_its_trace() -> None:
    assert turn(llm(2, 1, 5, 1, session__id="s")) is None


def test_a_turn_needs_a_session() -> None:
    assert turn(span(1), llm(2, 1, 5, 1)) is None


def test_any_span_may_name_the_session() -> None:
    found = turn(span(1), span(2, 1, gen_ai__conversation__id=" s "))

    assert found is not None
    assert found.session_id == "s"


def test_the_root_s_session_comes_first_then_the_earliest() -> None:
    late, early = span(2, 1, start=0.5, session__id="b"), span(3, 1, session__id="a")

    for spans, expected in (
        ([span(1, session__id="r"), late, early], "r"),
        ([span(1), late, early], "a"),
    ):
        found = turn(*spans)
        assert found is not None
        assert found.session_id == expected


def test_a_turn_takes_as_long_as_its_root() -> None:
    found = turn(span(1, start=1, took=2, session__id="s"), span(2, 1, took=9))

    assert found is not None
    assert found.started_at == NOON + timedelta(seconds=1)
    assert found.ended_at == NOON + timedelta(seconds=3)


def test_a_trace_that_somebody_else_began_begins_where_it_was_called() -> None:
    second = span(5, 99, start=3, flags=IS_REMOTE, session__id="s")
    first = span(4, 98, start=1, flags=IS_REMOTE, session__id="s")

    called = turn(second, first)
    with_root = turn(second, first, span(1, start=4, session__id="s"))

    assert called is not None
    assert with_root is not None
    assert called.entry_span_id == (4).to_bytes(8).hex()
    assert with_root.entry_span_id == (1).to_bytes(8).hex()
    assert called.spans < with_root.spans


def test_calls_of_one_model_add_up() -> None:
    assert spent(
        span(1, session__id="s"),
        llm(2, 1, 5, 1),
        llm(3, 1, 7, 2),
        llm(4, 1, 100, 10, llm__model_name="strong"),
    ) == {"swift": (12, 3), "strong": (100, 10)}


def test_the_main_model_is_the_one_that_took_most() -> None:
    found = turn(
        span(1, session__id="s"),
        llm(2, 1, 5, 1),
        llm(3, 1, 100, 10, llm__model_name="strong"),
    )

    assert found is not None
    assert found.main_share is not None
    assert found.main_share.model == "strong"
    assert (found.tokens.prompt, found.tokens.completion) == (105, 11)


def test_what_an_agent_s_run_sums_up_isn_t_counted_twice() -> None:
    run = span(
        1,
        session__id="s",
        gen_ai__operation__name="invoke_agent",
        gen_ai__usage__input_tokens=12,
        gen_ai__usage__output_tokens=3,
    )

    assert spent(run, llm(2, 1, 5, 1), llm(3, 1, 7, 2)) == {"swift": (12, 3)}
    # Nobody else has told: then the sum is what is known.
    assert spent(run) == {None: (12, 3)}


def test_of_two_layers_around_one_call_the_inner_one_counts() -> None:
    assert spent(span(1, session__id="s"), llm(2, 1, 5, 1), llm(3, 2, 6, 1)) == {
        "swift": (6, 1)
    }


@settings(max_examples=2 * settings().max_examples)
@given(data=st.data())
def test_the_order_of_spans_doesn_t_matter(data: st.DataObject) -> None:
    told = data.draw(st.permutations(OF_A_TRACE))

    assert turn(*told) == turn(*OF_A_TRACE)
