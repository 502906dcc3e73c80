"""The attempts of one call: how many, how long, and the pauses between them."""

import random
import time
from typing import Final

from agent_runtime_client.failures import Failure
from agent_runtime_client.options import Options

FIRST_PAUSE_S: Final = 0.1
PAUSE_MAX_S: Final = 5.0


class Attempts:
    """Retries with exponential backoff and full jitter, within the call's deadline."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ends_at = time.monotonic() + options.deadline_s
        self._retries = 0

    @property
    def timeout_s(self) -> float:
        """The time for the next attempt."""
        left_s = self._ends_at - time.monotonic()
        return max(0.001, min(self._options.timeout_s, left_s))

    def pause_s(self, failure: Failure) -> float:
        """Return how long to wait before another attempt.

        :raises AgentRuntimeError: the failure, when there is no other attempt
        """
        failure.error.attempts = self._retries + 1
        if not failure.is_retryable or self._retries >= self._options.max_retries:
            raise failure.error
        backoff_s = min(PAUSE_MAX_S, FIRST_PAUSE_S * 2**self._retries)
        pause_s = max(failure.error.retry_after_s or 0.0, random.uniform(0, backoff_s))  # noqa: S311 # no secret
        if time.monotonic() + pause_s >= self._ends_at:
            raise failure.error
        self._retries += 1
        return pause_s
