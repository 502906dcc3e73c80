"""Model calls that run at the same time, each told by two instrumentations."""

from datetime import UTC, datetime, timedelta
from typing import Any

from service.sessions.otlp.span import KeptEntry, KeptSpan, ModelCall
from service.sessions.otlp.trace import turn_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
# More than are compared with each other.
MANY = 20


def at(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat()


ROOT = KeptSpan(
    span_id="root",
    parent_id="",
    started_at=at(0),
    ended_at=at(100),
    session_id="chat",
    call=None,
    entry=KeptEntry(
        is_root=True,
        ended_at=at(100),
        user_id=None,
        is_error=False,
        owner="",
        sealed_input=None,
        sealed_output=None,
        sealed_error=None,
    ),
)


def call(  # what a call may differ in
    span_id: str,
    scope: str,
    start: float,
    took: float,
    prompt: int | None,
    completion: int | None = 10,
    *,
    parent: str = "root",
    **others: Any,
) -> KeptSpan:
    known: dict[str, Any] = {
        "provider": "acme",
        "model": "swift",
        "asked_model": None,
        "cache_read_tokens": None,
        "cache_creation_tokens": None,
        "is_total": False,
    }
    return KeptSpan(
        span_id=span_id,
        parent_id=parent,
        started_at=at(start),
        ended_at=at(start + took),
        session_id=None,
        entry=None,
        call=ModelCall(
            **{**known, **others},
            prompt_tokens=prompt,
            completion_tokens=completion,
            scope=scope,
        ),
    )


def told(*spans: KeptSpan) -> tuple[int | None, bool]:
    """Return the input tokens of a turn, and whether its calls are uncertain."""
    turn = turn_of("1", [ROOT, *spans])
    assert turn is not None
    calls = [each for share in turn.shares for each in share.calls]
    return turn.tokens.prompt, any("calls" in each.usage.untold for each in calls)


def twice(*, with_ids: bool) -> list[KeptSpan]:
    """Return calls told by a framework, which starts them all, and by its SDK."""
    spans = []
    for n in range(MANY):
        same: Any = {"response_id": f"answer-{n}"} if with_ids else {}
        spans.append(call(f"f{n}", "framework", 1 + n / 1000, 5, 100 + n, **same))
        spans.append(call(f"s{n}", "sdk", 2 + n / 1000, 4, 100 + n, **same))
    return spans


def test_many_calls_with_the_ids_of_their_answers_count_once() -> None:
    assert told(*twice(with_ids=True)) == (sum(range(100, 100 + MANY)), False)


def test_more_calls_without_ids_than_are_compared_are_uncertain() -> None:
    _, is_uncertain = told(*twice(with_ids=False))

    assert is_uncertain


def test_many_calls_of_one_instrumentation_are_certain() -> None:
    spans = [call(f"s{n}", "sdk", 1 + n / 1000, 5, 100) for n in range(MANY)]

    assert told(*spans) == (100 * MANY, False)


def test_a_doubt_stays_where_a_call_is_described_three_times() -> None:
    odd = call("t", "third", 1, 5, 1000, 101)
    framework = call("f", "framework", 1.1, 4, 1000, 100)
    beside = call("s", "sdk", 1.2, 3, 1000, 100)
    inside = call("s", "sdk", 1.2, 3, 1000, 100, parent="f")

    assert told(odd, framework, beside)[1]
    assert told(odd, framework, inside)[1]


def test_one_answer_told_twice_with_other_counts_is_uncertain() -> None:
    first = call("a", "sdk", 1, 1, 1000, response_id="answer")
    second = call("b", "sdk", 2, 1, 1000, 100, response_id="answer")

    assert told(first, second)[1]


def test_equal_counts_of_two_models_are_uncertain() -> None:
    first = call("a", "sdk", 1, 2, 1000, model="swift")
    second = call("b", "framework", 1.5, 2, 1000, model="slow")

    assert told(first, second) == (2000, True)


def test_a_call_around_another_with_other_counts_is_uncertain() -> None:
    outer = call("o", "framework", 1, 5, 1500)
    inner = call("i", "sdk", 2, 3, 500, parent="o")
    same = call("i", "sdk", 2, 3, 1500, parent="o")

    assert told(outer, inner) == (500, True)
    assert told(outer, same) == (1500, False)


def test_a_sum_around_a_smaller_sum_is_uncertain() -> None:
    outer = call("o", "framework", 1, 5, 1500, is_total=True)
    inner = call("i", "framework", 2, 3, 500, parent="o", is_total=True)

    assert told(outer, inner)[1]


def test_calls_around_one_without_usage_are_compared_with_each_other() -> None:
    outer = call("o", "framework", 1, 5, 1500)
    middle = call("m", "proxy", 2, 3, 500, parent="o")
    stream = call("i", "sdk", 2, 3, None, None, parent="m")

    assert told(outer, middle, stream) == (500, True)


def test_a_count_that_only_one_of_two_tells_is_no_contradiction() -> None:
    outer = call("o", "framework", 1, 5, 500, None)
    inner = call("i", "sdk", 2, 3, 500, 10, parent="o")

    assert told(outer, inner) == (500, False)


def test_one_answer_told_around_itself_is_certain() -> None:
    outer = call("o", "framework", 1, 5, 500, 9, response_id="answer")
    inner = call("i", "sdk", 2, 3, 500, 10, parent="o", response_id="answer")

    assert told(outer, inner) == (500, False)


def test_a_call_around_several_that_tells_more_than_they_is_uncertain() -> None:
    inner = [call(f"i{n}", "sdk", 2 + n, 1, 500, 10, parent="o") for n in (0, 1)]

    assert told(call("o", "framework", 1, 5, 2500, 20), *inner) == (1000, True)
    assert told(call("o", "framework", 1, 5, 1000, 20), *inner) == (1000, False)
