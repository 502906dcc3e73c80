"""What a turn costs, to the last digit."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.charge import EXACT, amount_of
from service.price_catalog.usage import ModelCallUsage
from service.sessions.turn import TOKENS_MAX
from tests.unit.price_catalog.test_pricing import rate


@given(
    st.integers(0, TOKENS_MAX),
    st.integers(0, TOKENS_MAX),
    st.decimals(0, 10**10, places=10, allow_nan=False),
    st.decimals(0, 10**10, places=10, allow_nan=False),
)
def test_costs_are_exact(
    prompt: int, completion: int, input_price: Decimal, output_price: Decimal
) -> None:
    rates = {
        "input_tokens": rate(str(input_price)),
        "output_tokens": rate(str(output_price)),
    }

    amount = amount_of(
        rates, ModelCallUsage(input_tokens=prompt, output_tokens=completion)
    )

    scaled = prompt * int(input_price.scaleb(10)) + completion * int(
        output_price.scaleb(10)
    )
    assert isinstance(amount, Decimal)
    assert int(amount.scaleb(16, EXACT)) == scaled
