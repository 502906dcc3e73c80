"""Every projector."""

from typing import Final

from projections.catalog import running_projectors

PROJECTORS: Final = tuple(running_projectors())
