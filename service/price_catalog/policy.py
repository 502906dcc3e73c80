"""Authorization of changes to the price catalog; every caller may read it."""

from service.errors import ForbiddenError
from service.principal import Principal


def may_price(principal: Principal) -> bool:
    return principal.is_superuser


def refuse_unless_may_price(principal: Principal) -> None:
    """Check that a caller may change prices.

    :raises ForbiddenError: the caller is no superuser
    """
    if not may_price(principal):
        raise ForbiddenError("only a superuser may change the price catalog")
