"""Authorization of what callers do with a preset."""

from service.model_gateway.presets.aggregate import ModelPreset
from service.principal import Principal


def may_see(principal: Principal, preset: ModelPreset, *, sees_granted: bool) -> bool:
    """Whether a preset exists for the caller.

    ``sees_granted``: the caller manages or reads an agent that it is granted to.
    """
    return (
        principal.sees_everything
        or preset.is_owned_by(principal.user_id)
        or preset.is_public
        or sees_granted
    )


def may_edit(principal: Principal, preset: ModelPreset) -> bool:
    """Whether a caller may say where its calls go: they send the owner's secrets."""
    return preset.is_owned_by(principal.user_id)


def may_lend(principal: Principal, preset: ModelPreset) -> bool:
    """Whether a caller may let an agent use what its owner pays for."""
    return preset.is_owned_by(principal.user_id)


def may_take_back(principal: Principal, preset: ModelPreset) -> bool:
    """Whether a caller may retire a preset, or revoke a grant."""
    return principal.is_superuser or preset.is_owned_by(principal.user_id)
