"""Authorization of what callers do with a connection."""

from service.model_gateway.connections.aggregate import ModelConnection
from service.principal import Principal


def may_see(principal: Principal, connection: ModelConnection) -> bool:
    return principal.sees_everything or connection.is_owned_by(principal.user_id)


def may_edit(principal: Principal, connection: ModelConnection) -> bool:
    """Whether a caller may change where calls go: it sends its owner's secret."""
    return connection.is_owned_by(principal.user_id)


def may_retire(principal: Principal, connection: ModelConnection) -> bool:
    return principal.is_superuser or connection.is_owned_by(principal.user_id)
