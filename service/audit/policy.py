"""Authorization of reads of the whole history."""

from service.principal import Principal


def may_read_history(principal: Principal) -> bool:
    return principal.sees_everything
