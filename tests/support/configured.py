"""Settings for a test, as the command line would give them."""

from typing import Any

from service.config import Config


def configured(**options: Any) -> Config:
    """Return the defaults, but for these options."""
    return Config.read(options, {})


def calling_loopback(**options: Any) -> Config:
    """Let the gateway call this machine, and tell at once who has to approve."""
    return configured(
        **{"gateway_networks": "127.0.0.0/8,::1", "gateway_hold_s": 0, **options}
    )
