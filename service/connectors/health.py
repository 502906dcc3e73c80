"""Whether the tools of a connector can be listed, in one word."""

from enum import StrEnum


class HealthState(StrEnum):
    """Whether a connector's tools were listed when that was last tried.

    ``unobserved``: it wasn't tried yet, at the URL that the connector has.
    """

    OK = "ok"
    FAILING = "failing"
    UNOBSERVED = "unobserved"
