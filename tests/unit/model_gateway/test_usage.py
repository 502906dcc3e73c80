"""What the answers of each dialect say of themselves, and what odd ones don't."""

from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model_gateway.calls.figures import Figures
from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol.usage import figures_of
from tests.unit.model_gateway.usages import (
    ANSWERS,
    CHAT,
    EMBEDDINGS,
    MESSAGES,
    RESPONSES,
    Counts,
    counts_of,
)


def read(dialect: Dialect, usage: Any) -> Counts:
    return counts_of(figures_of(dialect, {"usage": usage}).usage)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_says_its_usage(name: str) -> None:
    dialect, usage, expected = ANSWERS[name]

    figures = figures_of(dialect, {"id": "a-1", "model": "m-1", "usage": usage})

    assert counts_of(figures.usage) == expected
    assert (figures.model, figures.response_id) == ("m-1", "a-1")


ODD: list[Any] = [True, -1, 10**12 + 1, 2**70, 7.0, "7", [7], {"a": 7}, None]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_count_says_nothing(name: str, odd: Any) -> None:
    dialect, usage, expected = ANSWERS[name]

    for member in usage:
        found = read(dialect, {**usage, member: odd})

        assert found.keys() <= expected.keys()
        # Sums are without it, or unknown.
        assert all(found[unit] <= expected[unit] for unit in found)
        assert all(type(count) is int for count in found.values())


def test_the_largest_count_is_one_and_a_sum_beyond_it_is_unknown() -> None:
    most = 10**12
    usage = {"input_tokens": most, "output_tokens": most}

    assert read(MESSAGES, usage) == usage
    assert read(MESSAGES, {**usage, "cache_read_input_tokens": 1}) == {
        "output_tokens": most,
        "cache_read_tokens": 1,
    }


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd is not None])
def test_the_input_is_unknown_where_its_cached_part_is(odd: Any) -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": odd}

    assert read(MESSAGES, usage) == {"output_tokens": 7}


def test_reasoning_is_within_the_completion_unless_the_total_says_otherwise() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 50, "reasoning_tokens": 30}

    for total, written in ((60, 50), (90, 80), (85, 50), (None, 50), ("90", 50)):
        found = read(CHAT, {**usage, "total_tokens": total})
        assert found["output_tokens"] == written


def test_an_output_that_is_not_counted_is_unknown_but_of_embeddings() -> None:
    assert read(CHAT, {"prompt_tokens": 9}) == {"input_tokens": 9}
    assert read(MESSAGES, {"output_tokens": 9}) == {"output_tokens": 9}
    assert read(EMBEDDINGS, {"prompt_tokens": 9})["output_tokens"] == 0


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("usage", [None, {}, [], "", 5, True, {"price": 1}, [{}]])
def test_an_answer_without_counts_has_no_usage(dialect: Dialect, usage: Any) -> None:
    assert figures_of(dialect, {"usage": usage, "model": "m"}) == Figures(model="m")


@pytest.mark.parametrize(
    ("tier", "conditions"),
    [
        ("default", {"service_tier": "default"}),
        ("standard", {"service_tier": "default"}),
        ("priority", {"service_tier": "priority"}),
        ("flex", {"service_tier": "flex"}),
        ("batch", {"processing": "batch"}),
        *((nothing, {}) for nothing in ("auto", None, "", 5, ["flex"], "x" * 129)),
    ],
)
def test_an_answer_says_its_tier(tier: Any, conditions: dict[str, str]) -> None:
    usage = {"prompt_tokens": 1, "input_tokens": 1}
    answers = [{"usage": usage, "service_tier": tier}] * 2
    message = {"usage": {**usage, "service_tier": tier}}

    for dialect, answer in zip(
        (CHAT, RESPONSES, MESSAGES), (*answers, message), strict=True
    ):
        found = figures_of(dialect, answer).usage
        assert found is not None
        assert found.conditions == conditions


def test_a_message_says_its_speed() -> None:
    for speed, conditions in (
        ("fast", {"service_tier": "default", "speed": "fast"}),
        ("standard", {"service_tier": "default"}),
        ("normal", {"service_tier": "default"}),
        (None, {"service_tier": "default"}),
    ):
        usage = {"input_tokens": 1, "service_tier": "standard", "speed": speed}
        found = figures_of(MESSAGES, {"usage": usage}).usage
        assert found is not None
        assert found.conditions == conditions


@pytest.mark.parametrize("name", ["m", "a b", "x" * 128, "anthropic/claude", "größe"])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    figures = figures_of(CHAT, {"model": name, "id": name})

    assert figures == Figures(model=name, response_id=name)


@pytest.mark.parametrize(
    "name",
    ["", " ", " m", "m ", "a\nb", "a\x00", "\x7f", "\u00a0m", "x" * 129, 5, ["m"], {}],
)
def test_what_cannot_be_recorded_is_no_name(name: Any) -> None:
    assert figures_of(CHAT, {"model": name, "id": name}) == Figures()


NAMES = sorted({name for _, usage, _ in ANSWERS.values() for name in usage})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(NAMES)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner)
    ),
    max_leaves=8,
)
DOCUMENTS = VALUES | st.dictionaries(
    st.sampled_from(["usage", "model", "id", "service_tier"]),
    VALUES | st.dictionaries(st.sampled_from(NAMES), VALUES),
)


@given(st.sampled_from(Dialect), DOCUMENTS)
def test_no_document_is_an_error(dialect: Dialect, document: Any) -> None:
    figures = figures_of(dialect, document)

    for count in counts_of(figures.usage).values():
        assert type(count) is int
        assert 0 <= count <= 10**12


def test_any_mapping_is_a_document() -> None:
    document = MappingProxyType({"usage": MappingProxyType({"prompt_tokens": 1})})

    assert counts_of(figures_of(CHAT, document).usage) == {"input_tokens": 1}


@pytest.mark.parametrize(
    ("cost", "reported"),
    [
        (0.00014, Decimal("0.00014")),
        (3, Decimal(3)),
        (0, Decimal(0)),
        *((bad, None) for bad in (-1, 1e12, 1e-40, True, "1", None, {"total": 1})),
    ],
)
def test_a_cost_that_the_provider_reports_is_read(
    cost: object, reported: Decimal | None
) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "cost": cost}

    figures = figures_of(Dialect.OPENAI_CHAT, {"usage": usage})

    assert figures.reported_cost == reported
