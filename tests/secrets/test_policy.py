"""Who may destroy whose key."""

import pytest

from service.auth.principal import Role
from service.secrets.policy import may_destroy_key, may_know_user
from tests.scenario import principal

ADA = principal("ada").user_id


@pytest.mark.parametrize(
    ("name", "roles", "knows", "destroys"),
    [
        ("ada", (), True, True),
        ("bob", (), False, False),
        ("bob", (Role.RUNTIME,), False, False),
        ("bob", (Role.AUDITOR,), True, False),
        ("bob", (Role.SUPERUSER,), True, True),
    ],
)
def test_a_key_is_its_users_and_superusers_affair(
    name: str, roles: tuple[Role, ...], *, knows: bool, destroys: bool
) -> None:
    caller = principal(name, *roles)
    assert may_know_user(caller, ADA) == knows
    assert may_destroy_key(caller, ADA) == destroys
