"""The settings of the model gateway."""

from pydantic import Field

from service.networks import Networks
from service.settings import SettingGroup


class ModelGatewayConfig(SettingGroup):
    """The settings of the model gateway."""

    TITLE = "model gateway"

    model_gateway_networks: Networks | None = Field(
        None,
        description="Networks in which servers of models may be in addition to the "
        "public internet, separated by commas, such as 10.0.0.0/8,fd12::/16; TLS is "
        "not required in them. Without it the model gateway calls public addresses "
        "only, with TLS.",
    )
