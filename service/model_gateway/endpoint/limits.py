"""Model calls in flight, and the memory that their bodies take: both are bounded."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from service.errors import RETRY_LATER, TooManyRequestsError, UnavailableError

CALLS_MAX: Final = 1024
CALLS_OF_AGENT_MAX: Final = 512
# What providers take of one.
BODY_BYTES_MAX: Final = 32 * 1024 * 1024
BODIES_BYTES_MAX: Final = 512 * 1024 * 1024
# So that bodies of one that never end leave room for others'.
BODIES_OF_AGENT_BYTES_MAX: Final = 128 * 1024 * 1024


class CallLimits:
    """Refuses calls above the limits at once: nothing waits in a queue."""

    def __init__(self) -> None:
        self._of_agent: Counter[UUID] = Counter()
        self._bytes_of_agent: Counter[UUID] = Counter()

    @contextmanager
    def counted(self, agent_id: UUID) -> Iterator[None]:
        """Count a call in flight.

        :raises UnavailableError: the process has too many
        :raises TooManyRequestsError: the agent has too many
        """
        if self._of_agent.total() >= CALLS_MAX:
            raise UnavailableError(
                "the model gateway has too many calls in flight; call again in a "
                "second",
                code="too_many_calls",
                headers=RETRY_LATER,
            )
        if self._of_agent[agent_id] >= CALLS_OF_AGENT_MAX:
            raise TooManyRequestsError(
                f"the agent has {CALLS_OF_AGENT_MAX} model calls in flight; call again "
                "in a second",
                code="too_many_calls",
                headers=RETRY_LATER,
            )
        self._of_agent[agent_id] += 1
        try:
            yield
        finally:
            self._of_agent[agent_id] -= 1
            if not self._of_agent[agent_id]:
                del self._of_agent[agent_id]

    @contextmanager
    def held(self, agent_id: UUID, size: int | None) -> Iterator[None]:
        """Hold a body of so many bytes, or of as many as one may have.

        :raises UnavailableError: the process has too many
        :raises TooManyRequestsError: the agent has too many
        """
        size = BODY_BYTES_MAX if size is None else min(size, BODY_BYTES_MAX)
        held = self._bytes_of_agent
        if held[agent_id] + size > BODIES_OF_AGENT_BYTES_MAX:
            raise TooManyRequestsError(
                "the bodies of the agent's calls in flight have more than "
                f"{BODIES_OF_AGENT_BYTES_MAX} bytes; call again in a second",
                code="too_many_bytes",
                headers=RETRY_LATER,
            )
        if held.total() + size > BODIES_BYTES_MAX:
            raise UnavailableError(
                "the bodies of the calls in flight take too much memory; call again in "
                "a second",
                code="too_many_bytes",
                headers=RETRY_LATER,
            )
        held[agent_id] += size
        try:
            yield
        finally:
            held[agent_id] -= size
            if not held[agent_id]:
                del held[agent_id]
