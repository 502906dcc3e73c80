"""Authorization of changes of the tiers: everybody who can sign in reads them."""

from service.principal import Principal


def may_replace(principal: Principal) -> bool:
    return principal.is_superuser
