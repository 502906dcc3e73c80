"""Every aggregate whose events the log may hold."""

from typing import Final

from service.aggregate import LoggedAggregate
from service.capabilities.catalog import CAPABILITIES

AGGREGATES: Final[tuple[type[LoggedAggregate], ...]] = tuple(
    sorted(
        (each for capability in CAPABILITIES for each in capability.aggregates),
        key=lambda aggregate: aggregate.__name__,
    )
)
