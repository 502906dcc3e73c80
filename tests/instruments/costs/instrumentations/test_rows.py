"""Usage written as each row says is read whole: nothing twice, nothing lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from service.sessions.otlp.general import GENERAL
from service.sessions.otlp.instrumentation import Instrumentation
from service.sessions.otlp.instrumentations import ROWS, instrumentation_of
from service.sessions.otlp.model_calls import model_call

COUNTS = st.integers(0, 400_000)
# Codex tells tokens by events: of its spans, none is read.
EVERY_ROW = (*(row for row in ROWS if row.prompt), GENERAL)


def attributes(**values: int | str) -> dict[str, AnyValue]:
    return {
        key: AnyValue(int_value=value)
        if isinstance(value, int)
        else AnyValue(string_value=value)
        for key, value in values.items()
    }


@st.composite
def usages(draw: st.DrawFn) -> dict[str, int]:
    """Return a usage: the whole input, its cached parts, and the output.

    ``beside``: how much of the output's reasoning is written beside it.
    """
    fresh, read, written = draw(COUNTS), draw(COUNTS), draw(COUNTS)
    output = draw(COUNTS)
    reasoning = draw(st.integers(0, output))
    return {
        "fresh": fresh,
        "read": read,
        "written": written,
        "output": output,
        "in_an_hour": draw(st.integers(0, written)),
        "reasoning": reasoning,
        "beside": draw(st.sampled_from([0, reasoning])),
        "audio": draw(st.integers(0, fresh)),
    }


def written_by(row: Instrumentation, used: dict[str, int]) -> dict[str, AnyValue]:
    """Return the attributes of a call, as the row says that its scope writes them."""
    whole = used["fresh"] + used["read"] + used["written"]
    is_outside = row.caches == "outside"
    values: dict[str, Any] = {
        row.kind[0]: f"x{row.calls[0]}" if row.calls else "chat",
        row.model[-1]: "model-1",
        row.prompt[0]: used["fresh"] if is_outside else whole,
        row.completion[0]: used["output"] - used["beside"],
        row.cache_read[0]: used["read"],
        row.cache_creation[0]: used["written"],
        row.total[0]: whole + used["output"],
    }
    for name, value in (
        ("cache_write_1h_tokens", used["in_an_hour"]),
        ("output_reasoning_tokens", used["reasoning"]),
        ("input_audio_tokens", used["audio"]),
    ):
        if row.details.get(name):
            values[row.details[name][0]] = value
    return attributes(**values)


@pytest.mark.parametrize("row", EVERY_ROW, ids=lambda row: row.name)
@given(used=usages())
def test_a_row_reads_all_that_it_says_is_written_and_nothing_twice(
    row: Instrumentation, used: dict[str, int]
) -> None:
    call = model_call(written_by(row, used), row, scope="s", is_error=False)

    assert call is not None
    # Cached tokens and reasoning of the same number: the total doesn't tell which.
    if not {"cache_read_tokens", "output_tokens"} <= set(call.untold):
        assert call.prompt_tokens == used["fresh"] + used["read"] + used["written"]
        assert call.completion_tokens == used["output"]
    else:
        assert used["read"] + used["written"] == used["beside"]
    assert call.total_tokens is None
    assert call.cache_read_tokens == used["read"]
    assert call.cache_creation_tokens == used["written"]
    for name, told in (
        ("cache_write_1h_tokens", used["in_an_hour"]),
        ("output_reasoning_tokens", used["reasoning"]),
        ("input_audio_tokens", used["audio"]),
    ):
        is_known = call.details.get(name) == told
        assert is_known or not row.details.get(name)


@pytest.mark.parametrize("row", EVERY_ROW, ids=lambda row: row.name)
@given(used=usages(), tier=st.sampled_from(["default", "flex", "priority", "batch"]))
def test_a_tier_is_read_or_said_not_to_be_told(
    row: Instrumentation, used: dict[str, int], tier: str
) -> None:
    plain = written_by(row, used)
    with_tier = {**plain, **attributes(**{row.tier[0]: tier})}

    told = model_call(with_tier, row, scope="s", is_error=False)
    not_told = model_call(plain, row, scope="s", is_error=False)

    assert told is not None
    assert not_told is not None
    assert "service_tier" not in told.untold
    assert told.conditions in ({"service_tier": tier}, {"processing": tier})
    assert ("service_tier" in not_told.untold) == ("service_tier" in row.untold)


@pytest.mark.parametrize("row", EVERY_ROW, ids=lambda row: row.name)
@given(
    used=usages(),
    name=st.sampled_from(["acme.cache_hit_tokens", "acme.usage.audio", "xSearchCount"]),
    count=st.integers(1_000_000, 2_000_000),
)
def test_a_count_that_is_in_no_row_is_flagged(
    row: Instrumentation, used: dict[str, int], name: str, count: int
) -> None:
    written = written_by(row, used)

    call = model_call(
        {**written, **attributes(**{name: count})}, row, scope="s", is_error=False
    )

    assert call is not None
    flags = {"cache_read_tokens", "input_audio_tokens", "web_searches"}
    assert flags & set(call.untold)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_scope_has_one_row(row: Instrumentation) -> None:
    assert row.scopes
    for scope in row.scopes:
        assert instrumentation_of(scope) is row


def test_a_scope_without_a_row_is_read_by_the_conventions() -> None:
    assert instrumentation_of("someone's own") is GENERAL
