"""The settings of a service behind proxies."""

from pydantic import Field

from service.networks import Networks
from service.settings import SettingGroup


class ProxyConfig(SettingGroup):
    """The settings of a service behind proxies or load balancers."""

    TITLE = "proxies"

    trusted_proxies: Networks | None = Field(
        None,
        description="Addresses and networks of the proxies before the service, "
        "separated by commas, such as 10.0.0.0/8,::1. The client's address, in the log "
        "and for the limit of refused tokens, is then the last one in X-Forwarded-For "
        "that isn't one of them. Without it that header is ignored.",
    )
    keepalive_s: float = Field(
        150.0,
        ge=1,
        le=4000,
        description="How long a connection without a request is kept open, in seconds: "
        "longer than a proxy keeps it, which then closes it first.",
    )
    shutdown_delay_s: float = Field(
        8.0,
        ge=0,
        le=300,
        description="How long requests are still accepted after SIGTERM while /readyz "
        "says 503, in seconds: longer than a load balancer takes to notice. After "
        "SIGINT there is no delay.",
    )
