"""The client: a connection pool, options, and the resources of the API."""
# Made by "make generated"; do not edit.

from types import TracebackType
from typing import Self, Unpack

import httpx

from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.resources import Resources
from agent_runtime_client.log_memory import LogMemory
from agent_runtime_client.options import OptionChanges, Options
from agent_runtime_client.secret import Secret, token_of


class AgentRuntime(Resources):
    """A client of the agent runtime; each area of the API is an attribute.

    ``base_url`` is that of the service, such as ``http://127.0.0.1:8080``. Whitespace
    around the ``token`` is ignored. ``options`` are the fields of :class:`Options`.
    ``http`` brings a httpx client of the caller's, for proxies and certificates; the
    caller closes it.

    :raises ValueError: the token is empty, or has characters that no token has
    """

    def __init__(
        self,
        base_url: str,
        token: str | Secret | None = None,
        *,
        http: httpx.Client | None = None,
        **options: Unpack[OptionChanges],
    ) -> None:
        secret = token_of(token)
        self._owned = httpx.Client() if http is None else None
        self._caller = Caller(
            self._owned or http or httpx.Client(),
            base_url.rstrip("/"),
            secret,
            Options(**options),
            LogMemory(),
        )

    def with_options(self, **options: Unpack[OptionChanges]) -> Self:
        """Return a client with other options, over the same connections."""
        copy = type(self).__new__(type(self))
        copy._owned = None  # noqa: SLF001 # of the same class
        copy._caller = self._caller.with_options(**options)  # noqa: SLF001 # the same
        return copy

    def at_least(self, position: int) -> Self:
        """Return a client whose reads reflect at least this log position."""
        return self.with_options(min_position=position)

    @property
    def position(self) -> int:
        """The log position of this client's last command, 0 before."""
        return self._caller.memory.position

    @property
    def epoch(self) -> str | None:
        """The id of the log; None before the first answer that says it."""
        return self._caller.memory.epoch

    def close(self) -> None:
        """Close the connections, unless they are the caller's."""
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._caller.base_url!r})"
