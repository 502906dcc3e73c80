"""Who may change the price catalog."""

import pytest

from service.price_catalog.policy import may_price
from service.principal import Role
from tests.support.scenario import principal


@pytest.mark.parametrize(
    ("roles", "allowed"),
    [
        ((), False),
        ((Role.AUDITOR,), False),
        ((Role.RUNTIME,), False),
        ((Role.SUPERUSER,), True),
        ((Role.AUDITOR, Role.SUPERUSER), True),
    ],
)
def test_only_superusers_do(roles: tuple[Role, ...], *, allowed: bool) -> None:
    assert may_price(principal("ada", *roles)) == allowed
