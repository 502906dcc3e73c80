"""Who may read the history of everything."""

from service.principal import Principal


def may_read_history(principal: Principal) -> bool:
    return principal.sees_everything
