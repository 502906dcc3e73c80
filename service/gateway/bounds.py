"""Bounds of the gateway that operators set."""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024
# A connector's definitions together: more where more tools are allowed.
DEFINITIONS_BYTES_MIN: Final = MIB
DEFINITION_BYTES_MEAN: Final = 2 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """``silence_s`` without a byte of an upstream, ``call_s`` in all.

    ``answer_bytes`` of an upstream's answer, ``tools_max`` of a connector, and
    ``values_max`` of a message of an agent, of which the arguments are most.
    """

    silence_s: float = 60.0
    call_s: float = 300.0
    answer_bytes: int = 8 * MIB
    tools_max: int = 500
    values_max: int = 5_000

    @property
    def definitions_bytes(self) -> int:
        """How many bytes the definitions of one connector have together."""
        return max(DEFINITIONS_BYTES_MIN, self.tools_max * DEFINITION_BYTES_MEAN)


DEFAULT_BOUNDS: Final = Bounds()
