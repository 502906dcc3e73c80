"""Reported costs that a sum of them, with 100 digits, shows exactly."""

from decimal import Decimal

import pytest

from service.sessions.otlp.conventions import reported_span
from tests.support.sessions.otlp.spans import span


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1e9", Decimal(10**9)),
        ("1.1e9", None),
        ("1e308", None),
        ("1e-30", Decimal("1e-30")),
        ("1e-31", None),
        ("5e-324", None),
        ("0.0", Decimal(0)),
        ("-1.0", None),
    ],
)
def test_a_reported_cost_has_bounds_wherever_it_is_reported(
    given: str, expected: Decimal | None
) -> None:
    as_attribute = span(
        1, openinference__span__kind="LLM", llm__cost__total=float(given)
    )
    in_answer = span(
        1,
        openinference__span__kind="LLM",
        output__value=f'{{"id": "gen-1", "usage": {{"cost": {given}}}}}',
    )

    for each in (as_attribute, in_answer):
        call = reported_span(each).call
        assert call is not None
        found = call.reported_cost
        assert (None if found is None else Decimal(found)) == expected
